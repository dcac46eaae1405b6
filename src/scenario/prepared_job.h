#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "scenario/choose.h"
#include "trunkline/scenario/run.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Of a traffic job or the background: each has queues and a path of its own.
inline constexpr std::uint64_t kMostMessages = 1'000'000;

// A job as engines run it.
struct PreparedJob {
  std::size_t index = 0;  // in the scenario
  Placement placement;
  std::unique_ptr<const TaskGraph> workload;  // with open algorithms
  std::unique_ptr<const TaskGraph> resolved;  // what `workload` leaves open chosen; or none
  std::unique_ptr<const TaskGraph> repeated;  // from time zero; none: once
  std::unique_ptr<const TaskGraph> started;   // the same from the job's start; none: at zero
  std::shared_ptr<const TrainingWorkload> training;
  bool fits_memory = true;
  Time bound;

  [[nodiscard]] const TaskGraph& once() const { return resolved ? *resolved : *workload; }
  [[nodiscard]] const TaskGraph& alone() const { return repeated ? *repeated : once(); }
  [[nodiscard]] const TaskGraph& beside() const { return started ? *started : alone(); }
};

// Chooses algorithms for the job's placement; what training says of itself goes to `result`.
// TL1220: more tasks than a run can have. Others as of the workload, at its place.
[[nodiscard]] Result<PreparedJob> PrepareJob(const Scenario& scenario, std::size_t index,
                                             Placement placement, RunResult& result);

}  // namespace trunkline
