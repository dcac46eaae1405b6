#include "fabric/routing/policy.h"

namespace trunkline {

// UGAL-G of Kim and others (ISCA 2008), an ideal: every router knows the queues of all cables that
// leave its group. Here they are as old as news takes to travel the shortest cable.
const RoutingPolicyTraits kUgalGPolicy = {
    .policy = RoutingPolicy::kUgalG,
    .name = "ugal-g",
    .summary = "of a dragonfly: minimal or valiant, by queues of the group's cables to others",
    .paths = PathRule::kGroups,
    .detours = DetourRule::kAtSource,
    .choice = PathChoice::kPacket,
    .keys = {"intermediate", "threshold", "virtual_channels"},
};

}  // namespace trunkline
