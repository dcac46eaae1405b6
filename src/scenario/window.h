#pragma once

#include "trunkline/base/diagnostics.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/scenario/scenario.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

struct TrainingWorkload;

// The tasks or the time that a window names. `training`: of the graph, where it is that of a step.
// TL1213: a collective that the graph does not have.
[[nodiscard]] Result<PacketWindow> ResolveWindow(const WindowSpec& spec, const TaskGraph& graph,
                                                 const TrainingWorkload* training);

// Problems without a place get that of the window.
[[nodiscard]] Diagnostics PlaceAt(const WindowSpec& spec, Diagnostics problems);

}  // namespace trunkline
