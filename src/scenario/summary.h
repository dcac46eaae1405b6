#pragma once

#include "trunkline/scenario/result.h"
#include "trunkline/workload/task_graph.h"

// From a timeline to the figures that people read.
namespace trunkline {

// Time, status, events, links. REQUIRES: result.fabric is set.
void SummariseTimeline(Timeline timeline, RunResult& result);

// One row of a table: `time` is that of one execution.
[[nodiscard]] CollectiveRow RowOf(const CollectiveChoice& choice, std::uint32_t group_size,
                                  Time time, Time bound);

// The iteration, its collectives and memory. REQUIRES: result.training is set.
void SummariseTraining(const TaskGraph& graph, Bytes memory_capacity, RunResult& result);

}  // namespace trunkline
