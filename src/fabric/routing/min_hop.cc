#include "fabric/routing/policy.h"

namespace trunkline {

// opensm's minhop engine: each switch sends a destination by that of its ports on shortest paths
// which has the fewest destinations so far.
const RoutingPolicyTraits kMinHopPolicy = {
    .policy = RoutingPolicy::kMinHop,
    .name = "min-hop",
    .summary = "forwarding tables that spread destinations evenly over ports",
    .ports = PortRule::kTable,
    .choose = TableEntry,
};

}  // namespace trunkline
