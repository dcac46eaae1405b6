#pragma once

#include "trunkline/fabric/route.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// The worst link of a route: it sets the software latency of a step.
[[nodiscard]] HopClass HopClassOf(const Fabric& fabric, const Route& route);

// What a collective pays once, before its first step.
[[nodiscard]] Time BaseLatency(const TransportModel& transport, const CollectiveChoice& choice);

}  // namespace trunkline
