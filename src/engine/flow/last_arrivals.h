#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/accounting.h"
#include "engine/flow/fold.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_run.h"

namespace trunkline {

// When the members came to each collective of a finished run, found for one communicator after
// another and kept.
class LastArrivals {
 public:
  struct Execution {
    Time first = Time::Max();  // the first member starts …
    Time last;                 // … and the last
    Time end;                  // of the last
  };

  LastArrivals(const TaskGraph& graph, const FlowProblem& problem, const Folding& folding,
               const TaskRun& runner);

  // Of all collectives of a communicator (index into FlowProblem::communicators), in order.
  [[nodiscard]] const std::vector<Execution>& Of(std::uint32_t communicator);

  // Sets `sent` of the collectives in the times of a simulated rank's tasks, all of which have an
  // end (accounting.h).
  void Mark(std::uint32_t rank, std::span<TaskTimes> times);

 private:
  [[nodiscard]] std::uint32_t PortOf(RankId member, std::uint32_t communicator) const;

  const TaskGraph& graph_;
  const FlowProblem& problem_;
  const Folding& folding_;
  const TaskRun& runner_;
  std::vector<std::vector<std::vector<std::uint32_t>>> tasks_;  // by program, then port: in order
  std::map<std::uint32_t, std::vector<Execution>> known_;       // by communicator, in order
};

}  // namespace trunkline
