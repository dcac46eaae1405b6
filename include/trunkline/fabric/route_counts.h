#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

// How evenly forwarding tables spread destinations over the ports of switches.
namespace trunkline {

// A link from switch to switch, and to how many NICs and hosts its switch sends by it.
struct PortRoutes {
  LinkId link{};
  std::uint64_t destinations = 0;
};

// Of every link between switches, the most destinations first, then in order of links. Nothing
// where the policy has no forwarding tables (all but min-hop, up-down, static and ftree), and where
// making them would take minutes.
[[nodiscard]] std::optional<std::vector<PortRoutes>> CountRoutes(const Fabric& fabric,
                                                                 RoutingPolicy policy);

}  // namespace trunkline
