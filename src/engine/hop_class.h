#pragma once

#include "trunkline/fabric/route.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

// The worst link of a route: it sets the software latency of a step.
[[nodiscard]] HopClass HopClassOf(const Fabric& fabric, const Route& route);

}  // namespace trunkline
