#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Several graphs as one: ranks, programs, collectives and communicators are numbered graph by
// graph, roles stay those of each.
class JobsGraph final : public TaskGraph {
 public:
  struct Part {
    const TaskGraph* graph = nullptr;  // outlives this one
    bool awaited = true;
  };
  // REQUIRES: all parts together have at most 256 streams and 65,536 labels; those that are not
  // awaited come last.
  explicit JobsGraph(std::vector<Part> parts);

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(job_of_rank_.size());
  }
  [[nodiscard]] std::uint32_t program_count() const override {
    return static_cast<std::uint32_t>(programs_.size());
  }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override;
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs_[index];
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override {
    return collectives_;
  }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return labels_; }
  [[nodiscard]] std::span<const std::string> streams() const override { return streams_; }
  [[nodiscard]] std::uint32_t communicator_count() const override { return communicators_; }
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t role) const override;
  [[nodiscard]] std::vector<RankId> members(CommunicatorId communicator) const override;
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override;
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override;
  [[nodiscard]] std::uint32_t sender_role(RankId receiver, std::uint32_t role) const override;
  [[nodiscard]] std::uint32_t job_of(RankId rank) const override {
    return job_of_rank_[Index(rank)];
  }
  [[nodiscard]] CommunicatorId in_job(CommunicatorId communicator) const override;
  [[nodiscard]] bool awaited(RankId rank) const override {
    return parts_[job_of_rank_[Index(rank)]].awaited;
  }

  // The first rank of a job; of one more than there are, their number.
  [[nodiscard]] RankId first_rank(std::uint32_t job) const { return RankId(first_[job].rank); }

 private:
  struct First {
    std::uint32_t rank = 0;
    std::uint32_t program = 0;
    std::uint32_t communicator = 0;
  };

  void Add(const TaskGraph& graph);
  [[nodiscard]] std::uint8_t StreamOf(const std::string& name);
  [[nodiscard]] std::uint16_t LabelOf(const TaskLabel& label);
  [[nodiscard]] const TaskGraph& graph_of(RankId rank) const { return *parts_[job_of(rank)].graph; }
  [[nodiscard]] RankId Local(RankId rank) const {
    return RankId(Index(rank) - first_[job_of(rank)].rank);
  }
  [[nodiscard]] std::uint32_t JobOf(CommunicatorId communicator) const;

  std::vector<Part> parts_;
  std::vector<First> first_;  // by job, and one more
  std::vector<std::uint32_t> job_of_rank_;
  std::vector<Program> programs_;
  std::vector<CollectiveChoice> collectives_;
  std::vector<TaskLabel> labels_;
  std::vector<std::string> streams_;
  std::map<std::pair<std::string, Phase>, std::uint16_t> label_index_;
  std::uint32_t communicators_ = 0;
};

}  // namespace trunkline
