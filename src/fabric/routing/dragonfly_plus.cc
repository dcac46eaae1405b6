#include "fabric/routing/policy.h"

namespace trunkline {

// Fully-minimal-first adaptive routing, as on InfiniBand's Dragonfly+ (Shpiner and others,
// Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017): the least loaded of the
// minimal ports unless its queue exceeds a threshold, and until the packet has left its group.
const RoutingPolicyTraits kDragonflyPlusPolicy = {
    .policy = RoutingPolicy::kDragonflyPlus,
    .name = "dragonfly-plus",
    .summary =
        "of groups: minimal while its queue is short, judged at every switch of the source's group",
    .paths = PathRule::kGroups,
    .detours = DetourRule::kInSourceGroup,
    .choice = PathChoice::kPacket,
    .keys = {"threshold", "virtual_channels"},
};

}  // namespace trunkline
