#pragma once

#include "engine/cuts.h"
#include "trunkline/base/units.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// LowerBound (engine.h) for a group whose partitions are known.
[[nodiscard]] Time LowerBoundOver(const std::vector<Partition>& partitions,
                                  const TransportModel& transport, const CollectiveChoice& choice,
                                  std::uint32_t ranks);

}  // namespace trunkline
