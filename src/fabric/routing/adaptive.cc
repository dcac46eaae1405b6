#include "fabric/routing/policy.h"

namespace trunkline {
namespace {

double ProportionalShare(const Link& link) { return link.rate.bytes_per_second(); }

}  // namespace

// The fluid limit of per-packet adaptive routing: whatever the minimal paths have left is used.
// Trunks are filled to the sum of their links, other forks in proportion to the links' rates.
// Optimistic: queues, reordering and stale congestion information cost nothing.
const RoutingPolicyTraits kAdaptivePolicy = {
    .policy = RoutingPolicy::kAdaptive,
    .name = "adaptive",
    .summary = "the shortest queue of the minimal paths; as flows, the fluid optimum in trees",
    .choice = PathChoice::kPacket,
    .balances = true,
    .share = ProportionalShare,
    .keys = {"style", "virtual_channels"},
};

}  // namespace trunkline
