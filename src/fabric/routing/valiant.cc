#include "fabric/routing/policy.h"

namespace trunkline {

// VAL of Kim and others (ISCA 2008), after Valiant and Brebner: Universal Schemes for Parallel
// Communication (STOC 1981). The group is drawn among all: source's and destination's own make the
// path minimal.
const RoutingPolicyTraits kValiantPolicy = {
    .policy = RoutingPolicy::kValiant,
    .name = "valiant",
    .summary = "of a dragonfly: each packet by a random group in between",
    .paths = PathRule::kGroups,
    .detours = DetourRule::kAlways,
    .choice = PathChoice::kPacket,
    .keys = {"intermediate", "virtual_channels"},
};

}  // namespace trunkline
