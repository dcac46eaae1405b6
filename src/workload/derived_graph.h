#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// A graph that is another one but for what a subclass says. The other one outlives it.
class DerivedGraph : public TaskGraph {
 public:
  explicit DerivedGraph(const TaskGraph& base) : base_(base) {}

  [[nodiscard]] std::uint32_t ranks() const override { return base_.ranks(); }
  [[nodiscard]] std::uint32_t program_count() const override { return base_.program_count(); }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return base_.program_of(rank);
  }
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return base_.program(index);
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override {
    return base_.collectives();
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
  [[nodiscard]] std::string layout() const override { return base_.layout(); }
  [[nodiscard]] std::uint32_t job_of(RankId rank) const override { return base_.job_of(rank); }
  [[nodiscard]] CommunicatorId in_job(CommunicatorId communicator) const override {
    return base_.in_job(communicator);
  }
  [[nodiscard]] bool awaited(RankId rank) const override { return base_.awaited(rank); }

 private:
  const TaskGraph& base_;
};

}  // namespace trunkline
