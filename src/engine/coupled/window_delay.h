#pragma once

#include <cstdint>
#include <vector>

#include "engine/coupled/matched_tasks.h"
#include "engine/flow/flow_run.h"
#include "engine/task_order.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// What delays of some of a run's tasks do to its end. Where the run folded ranks into one, the
// latest of them speaks for all, task by task.
class WindowDelays {
 public:
  struct Delay {
    std::uint32_t task = 0;
    Time time;  // by how much it ended later; what ended earlier shortens nothing
  };

  // `from`: none of the tasks that ended before is delayed.
  WindowDelays(const TaskGraph& graph, const FlowRun& run, const MatchedTasks& matched, Time from);

  void Add(RankId rank, const std::vector<Delay>& delays);
  // By how much the run ends later: its other tasks after `from` start when what they wait for is
  // there, no earlier than they did, and last as long as they did. A collective whose result needs
  // every member is late by as much as the last to come, any other by as much as its latest member
  // that had come when the rank was done.
  [[nodiscard]] Time OfTheEnd();

 private:
  static constexpr Time kFree = Time::Picoseconds(-1);  // not in the window

  [[nodiscard]] const Program& program_of(std::uint32_t rank) const {
    return run_.runner().program_of(rank);
  }
  [[nodiscard]] const TaskTimes& Was(std::uint32_t rank, std::uint32_t task) const {
    return run_.runner().times(rank)[task];
  }
  [[nodiscard]] Time Lateness(std::uint32_t rank, std::uint32_t task) const {
    return ends_[rank][task] - Was(rank, task).end;
  }
  // REQUIRES: what the task follows is known.
  [[nodiscard]] Time StartOf(std::uint32_t rank, std::uint32_t task) const;
  [[nodiscard]] Time EndOf(std::uint32_t rank, std::uint32_t task) const;
  [[nodiscard]] Time LatenessOfMembers(std::uint32_t rank, std::uint32_t task) const;

  const TaskGraph& graph_;
  const FlowRun& run_;
  const MatchedTasks& matched_;
  Time from_;
  std::vector<TaskOrder> orders_;          // by program
  std::vector<std::vector<Time>> delays_;  // by simulated rank, then task
  std::vector<std::vector<Time>> starts_;  // likewise: as they are with the delays, so far …
  std::vector<std::vector<Time>> ends_;    // … and these
};

}  // namespace trunkline
