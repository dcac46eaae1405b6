#include "fabric/routing/policy.h"

namespace trunkline {
namespace {

// Destination modulo k (Zahavi, D-Mod-K Routing, Technion CCIT report 776, 2010): the digit of the
// destination's label in the mixed radix of the forks on the way up. All traffic to one
// destination meets at the same top switch.
std::uint32_t DigitOfDestination(const PortView& view) { return view.label % view.ports; }

}  // namespace

const RoutingPolicyTraits kStaticPolicy = {
    .policy = RoutingPolicy::kStatic,
    .name = "static",
    .summary = "destination modulo k, as forwarding tables of a fat tree do",
    .balances = false,
    .choose = DigitOfDestination,
    .share = EvenShare,
    .trunk_capacity = SumOfRates,
};

}  // namespace trunkline
