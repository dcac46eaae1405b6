#include "fabric/routing/policy.h"

namespace trunkline {

// What opensm's ftree engine writes into the tables of a whole fat tree, up to the order of ports:
// all traffic to one destination by one spine, destinations of a leaf by different cables.
const RoutingPolicyTraits kFtreePolicy = {
    .policy = RoutingPolicy::kFtree,
    .name = "ftree",
    .summary = "destination modulo k, by the name of InfiniBand's subnet manager",
    .ports = PortRule::kDigit,
    .choose = TableEntry,
};

}  // namespace trunkline
