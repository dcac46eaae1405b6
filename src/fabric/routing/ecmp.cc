#include "fabric/routing/policy.h"

namespace trunkline {

// Equal-cost multi-path: every switch hashes the flow's addresses; each hop has its own seed, as
// operators configure per tier so that tiers do not repeat one another's choice (polarisation).
const RoutingPolicyTraits kEcmpPolicy = {
    .policy = RoutingPolicy::kEcmp,
    .name = "ecmp",
    .summary = "a seeded hash of source, destination and flow picks one minimal path",
    .keys = {"seed_per_switch"},
};

}  // namespace trunkline
