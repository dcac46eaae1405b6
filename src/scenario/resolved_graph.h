#pragma once

#include <utility>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// A task graph whose collectives have been given their algorithms: `base` with other choices at the
// same indices. `base` must outlive it.
class ResolvedGraph final : public TaskGraph {
 public:
  ResolvedGraph(const TaskGraph& base, std::vector<CollectiveChoice> choices)
      : base_(base), choices_(std::move(choices)) {}

  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override { return choices_; }

  [[nodiscard]] std::uint32_t ranks() const override { return base_.ranks(); }
  [[nodiscard]] std::uint32_t program_count() const override { return base_.program_count(); }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return base_.program_of(rank);
  }
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return base_.program(index);
  }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return base_.labels(); }
  [[nodiscard]] std::span<const std::string> streams() const override { return base_.streams(); }
  [[nodiscard]] std::uint32_t communicator_count() const override {
    return base_.communicator_count();
  }
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t role) const override {
    return base_.communicator(rank, role);
  }
  [[nodiscard]] std::vector<RankId> members(CommunicatorId communicator) const override {
    return base_.members(communicator);
  }
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override {
    return base_.peer(rank, role);
  }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override {
    return base_.reverse_role(role);
  }
  [[nodiscard]] std::uint32_t sender_role(RankId receiver, std::uint32_t role) const override {
    return base_.sender_role(receiver, role);
  }

 private:
  const TaskGraph& base_;
  std::vector<CollectiveChoice> choices_;
};

}  // namespace trunkline
