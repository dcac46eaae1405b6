#pragma once

#include "engine/analytic/fabric_costs.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// A time that no run of a training step beats, by whatever engine: no rank is done before its
// computation is, nor before the collectives of any one of its streams, which run one after another
// and each take their group its lower bound. `costs` are of the fabric, on which `placement` is;
// the graph's algorithms are chosen. What `timeline` says of the critical rank's groups is not
// sought again.
[[nodiscard]] Result<Time> StepBound(const TaskGraph& graph, const Timeline& timeline,
                                     const BuiltFabric& built, const Placement& placement,
                                     const FabricCosts& costs);

}  // namespace trunkline
