#include "fabric/routing/policy.h"

namespace trunkline {

// opensm's updn engine (Schroeder and others, Autonet, JSAC 1991): cables are ordered towards
// roots, and no path leads up after it has led down, so that packets never wait for each other in a
// cycle.
const RoutingPolicyTraits kUpDownPolicy = {
    .policy = RoutingPolicy::kUpDown,
    .name = "up-down",
    .summary = "forwarding tables along paths that never turn up again",
    .paths = PathRule::kUpDown,
    .ports = PortRule::kTable,
    .choose = TableEntry,
};

}  // namespace trunkline
