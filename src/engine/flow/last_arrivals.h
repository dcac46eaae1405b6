#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/accounting.h"
#include "engine/flow/fold.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_runner.h"

namespace trunkline {

// When the last member came to each collective of a finished run, found for one communicator after
// another and kept.
class LastArrivals {
 public:
  LastArrivals(const TaskGraph& graph, const FlowProblem& problem, const Folding& folding,
               const TaskRunner& runner);

  // Sets `sent` of the collectives in the times of a simulated rank's tasks, all of which have an
  // end (accounting.h).
  void Mark(std::uint32_t rank, std::span<TaskTimes> times);

 private:
  [[nodiscard]] const std::vector<Time>& Of(std::uint32_t communicator);
  [[nodiscard]] std::uint32_t PortOf(RankId member, std::uint32_t communicator) const;

  const TaskGraph& graph_;
  const FlowProblem& problem_;
  const Folding& folding_;
  const TaskRunner& runner_;
  std::vector<std::vector<std::vector<std::uint32_t>>> tasks_;  // by program, then port: in order
  std::map<std::uint32_t, std::vector<Time>> known_;            // by communicator, then execution
};

}  // namespace trunkline
