#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/workload/task_graph.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// Messages of traffic as the programs of their ranks: each rank has a clock, a chain of
// computations, one until the next message is posted; every message is a send and a receive of a
// role of its own, so that none waits for another.
class MessageGraph final : public TaskGraph {
 public:
  // REQUIRES: messages start by themselves.
  explicit MessageGraph(const TrafficWorkload& traffic);

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(programs_.size());
  }
  [[nodiscard]] std::uint32_t program_count() const override { return ranks(); }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return static_cast<std::uint32_t>(Index(rank));
  }
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs_[index];
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override { return {}; }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return labels_; }
  [[nodiscard]] std::span<const std::string> streams() const override { return streams_; }
  [[nodiscard]] std::uint32_t communicator_count() const override { return 0; }
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t role) const override;
  [[nodiscard]] std::vector<RankId> members(CommunicatorId communicator) const override;
  // A message's role is its index.
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override {
    const Ends& ends = ends_[role];
    return rank == ends.source ? ends.destination : ends.source;
  }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override { return role; }

 private:
  struct Ends {
    RankId source{};
    RankId destination{};
  };

  std::vector<Ends> ends_;  // by message
  std::vector<Program> programs_;
  std::vector<TaskLabel> labels_;
  std::vector<std::string> streams_;
};

}  // namespace trunkline
