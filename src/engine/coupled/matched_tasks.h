#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Which tasks of a graph meet: the nth send on a peer role and the nth receive at the other end,
// the nth collectives of a communicator's members.
class MatchedTasks {
 public:
  struct Place {
    RankId rank{};
    std::uint32_t task = 0;
  };

  explicit MatchedTasks(const TaskGraph& graph);

  // How many tasks of the same kind and role precede it in its program.
  [[nodiscard]] std::uint32_t ordinal(std::uint32_t program, std::uint32_t task) const {
    return ordinals_[program][task];
  }
  // The send that a receive of `rank` waits for.
  [[nodiscard]] Place SendOf(RankId rank, std::uint32_t receive) const;
  // The collective of `member` that is the nth on `communicator`.
  [[nodiscard]] std::uint32_t CollectiveOf(RankId member, CommunicatorId communicator,
                                           std::uint32_t ordinal) const;

 private:
  using ByRole = std::vector<std::vector<std::uint32_t>>;  // tasks in order

  const TaskGraph& graph_;
  std::vector<std::vector<std::uint32_t>> ordinals_;  // by program, then task
  std::vector<ByRole> sends_;                         // by program
  std::vector<ByRole> collectives_;                   // by program
};

}  // namespace trunkline
