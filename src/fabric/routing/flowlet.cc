#include "fabric/routing/policy.h"

namespace trunkline {

// Flowlets (Sinha, Kandula, Katabi: Harnessing TCP's Burstiness with Flowlet Switching, HotNets
// 2004; LetFlow, Vanini and others, NSDI 2017): after a pause longer than paths differ by, packets
// of a flow may take another path without overtaking each other. Pauses are those of the queue pair
// at its NIC. A fluid flow never pauses, and keeps to its first path.
const RoutingPolicyTraits kFlowletPolicy = {
    .policy = RoutingPolicy::kFlowlet,
    .name = "flowlet",
    .summary = "as ecmp, and anew after each pause of a flow",
    .choice = PathChoice::kFlowlet,
    .keys = {"seed_per_switch", "flowlet_gap"},
};

}  // namespace trunkline
