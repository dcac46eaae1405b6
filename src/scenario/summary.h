#pragma once

#include <span>

#include "scenario/choose.h"
#include "trunkline/scenario/result.h"
#include "trunkline/workload/task_graph.h"

// From a timeline to the figures that people read.
namespace trunkline {

// Time, status, events, and links: all of them, or the worst thousand. REQUIRES: result.fabric is
// set.
void SummariseTimeline(Timeline timeline, bool all_links, RunResult& result);

// What packets add to the rows of network links.
void AddPacketFigures(const PacketReport& report, RunResult& result);

// A time that no run of a graph of computation and messages beats: a rank computes one stream's
// tasks one after another, and its bytes cross the links of its endpoint.
[[nodiscard]] Time TraceBound(const TaskGraph& graph, const Fabric& fabric,
                              const Placement& placement);

// One row of a table: `time` is that of one execution.
[[nodiscard]] CollectiveRow RowOf(const Chosen& chosen, std::uint32_t group_size, Time time,
                                  Time bound);

// The iteration, its collectives and memory, but not its bound; `chosen` is by index of the graph's
// collectives.
// REQUIRES: result.training is set.
void SummariseTraining(const TaskGraph& graph, std::span<const Chosen> chosen, RunResult& result);

}  // namespace trunkline
