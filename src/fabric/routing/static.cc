#include "fabric/routing/policy.h"

namespace trunkline {

const RoutingPolicyTraits kStaticPolicy = {
    .policy = RoutingPolicy::kStatic,
    .name = "static",
    .summary = "destination modulo k, as forwarding tables of a fat tree do",
    .ports = PortRule::kDigit,
    .choose = TableEntry,
};

}  // namespace trunkline
