#pragma once

#include "trunkline/fabric/route.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

// The worst link of a route: it sets the software latency of a step.
[[nodiscard]] HopClass HopClassOf(const Fabric& fabric, const Route& route);

// A route with what the ends add to it: with sockets, what leaves a node goes through the kernel.
struct RouteCost {
  Rate limit;
  Time latency;
};
[[nodiscard]] RouteCost CostOf(const Route& route, HopClass hop_class,
                               const TransportModel& transport);

}  // namespace trunkline
