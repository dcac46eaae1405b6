#include <algorithm>

#include "fabric/routing/policy.h"

namespace trunkline {
namespace {

// An even split is bound by the slowest link.
Rate LinksTimesSlowest(const Fabric& fabric, std::span<const LinkId> links) {
  const auto rate = [&](LinkId link) { return fabric.link(link).rate; };
  return rate(std::ranges::min(links, {}, rate)) * static_cast<std::int64_t>(links.size());
}

}  // namespace

const RoutingPolicyTraits kSprayPolicy = {
    .policy = RoutingPolicy::kSpray,
    .name = "spray",
    .summary = "every flow is split evenly over all minimal paths",
    .choice = PathChoice::kPacket,
    .balances = true,
    .trunk_capacity = LinksTimesSlowest,
};

}  // namespace trunkline
