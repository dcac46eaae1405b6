#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// With whom messages of a peer role are exchanged.
struct GoalPeer {
  std::uint32_t rank = 0;
  std::uint32_t tag = 0;
};

// A GOAL schedule: messages between peers, no collectives.
class GoalGraph final : public TaskGraph {
 public:
  struct Role {
    RankId peer{};
    std::uint32_t reverse = 0;  // the peer's role for the same messages
  };

  GoalGraph(std::vector<Program> programs, std::vector<std::uint32_t> program_of,
            std::vector<std::vector<Role>> roles, std::uint32_t cpus);

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(program_of_.size());
  }
  [[nodiscard]] std::uint32_t program_count() const override {
    return static_cast<std::uint32_t>(programs_.size());
  }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return program_of_[Index(rank)];
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
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override {
    return roles_[Index(rank)][role].peer;
  }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override;
  [[nodiscard]] std::uint32_t sender_role(RankId receiver, std::uint32_t role) const override {
    return roles_[Index(receiver)][role].reverse;
  }

  // The label of an operation.
  static std::uint16_t LabelOf(TaskKind kind);

 private:
  std::vector<Program> programs_;
  std::vector<std::uint32_t> program_of_;  // by rank
  std::vector<std::vector<Role>> roles_;   // by rank, then role
  std::vector<TaskLabel> labels_;
  std::vector<std::string> streams_;
};

}  // namespace trunkline
