#include "fabric/routing/policy.h"

namespace trunkline {

// MIN of Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA
// 2008).
const RoutingPolicyTraits kMinimalPolicy = {
    .policy = RoutingPolicy::kMinimal,
    .name = "minimal",
    .summary = "of a dragonfly: one cable between groups, a local one before and behind it at most",
    .paths = PathRule::kGroups,
    .keys = {"virtual_channels"},
};

}  // namespace trunkline
