#include "fabric/routing/policy.h"

namespace trunkline {

// UGAL-L (Singh, Load-Balanced Routing in Interconnection Networks, thesis, Stanford 2005; Kim and
// others, ISCA 2008): minimal where its queue times its hops is at most the detour's.
const RoutingPolicyTraits kUgalLPolicy = {
    .policy = RoutingPolicy::kUgalL,
    .name = "ugal-l",
    .summary = "of a dragonfly: minimal or valiant, by queues of the source's router",
    .paths = PathRule::kGroups,
    .detours = DetourRule::kAtSource,
    .choice = PathChoice::kPacket,
    .keys = {"intermediate", "threshold", "virtual_channels"},
};

}  // namespace trunkline
