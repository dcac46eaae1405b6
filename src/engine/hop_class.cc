#include "engine/hop_class.h"

#include <algorithm>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

HopClass HopClassOf(const Fabric& fabric, const Route& route) {
  HopClass worst = HopClass::kNvlink;
  for (const Hop& hop : route.hops) {
    if (Index(hop.resource) >= fabric.link_count()) return HopClass::kNetwork;  // a trunk
    switch (fabric.link(LinkId(Index(hop.resource))).kind) {
      case LinkKind::kNetwork:
        return HopClass::kNetwork;
      case LinkKind::kPcie:
      case LinkKind::kSocket:
      case LinkKind::kC2c:
        worst = HopClass::kPcie;
        break;
      case LinkKind::kNvlink:
      case LinkKind::kXgmi:
        break;
    }
  }
  return worst;
}

RouteCost CostOf(const Route& route, HopClass hop_class, const TransportModel& transport) {
  const auto& sockets = transport.sockets;
  if (!sockets || hop_class != HopClass::kNetwork) {
    return {route.limit, route.latency};
  }
  return {std::min(route.limit, RateOf(*sockets, transport.mtu)),
          route.latency + LatencyOf(*sockets)};
}

}  // namespace trunkline
