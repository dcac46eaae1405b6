#include "fabric/routing/policy.h"

namespace trunkline {

// Progressive adaptive routing (Jiang, Kim, Dally: Indirect Adaptive Routing on Large Scale
// Interconnection Networks, ISCA 2009): a packet on its minimal path may still turn off at each
// router of its own group, by that router's queues.
const RoutingPolicyTraits kParPolicy = {
    .policy = RoutingPolicy::kPar,
    .name = "par",
    .summary =
        "of a dragonfly: as ugal-l, and judged again at the next router of the source's group",
    .paths = PathRule::kGroups,
    .detours = DetourRule::kInSourceGroup,
    .choice = PathChoice::kPacket,
    .keys = {"intermediate", "threshold", "virtual_channels"},
};

}  // namespace trunkline
