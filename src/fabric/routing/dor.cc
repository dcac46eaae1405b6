#include "fabric/routing/policy.h"

namespace trunkline {

// Dimension-order routing (Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor
// Interconnection Networks, IEEE ToC 1987): two virtual channels, changed where a ring is closed
// (the dateline), make it free of deadlock.
const RoutingPolicyTraits kDorPolicy = {
    .policy = RoutingPolicy::kDor,
    .name = "dor",
    .summary = "of a torus: dimension by dimension, the shorter way round each",
    .paths = PathRule::kDimensionOrder,
    .keys = {"virtual_channels"},
};

}  // namespace trunkline
