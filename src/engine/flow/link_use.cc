#include "engine/flow/link_use.h"

#include <map>

#include "engine/flow/network.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

std::vector<LinkUse> LinkUses(const Router& router, std::span<const Uint128> by_resource) {
  const Fabric& fabric = router.fabric();
  const bool adaptive = router.options().policy == RoutingPolicy::kAdaptive;
  std::map<LinkId, Uint128> carried;
  for (std::size_t resource = 0; resource < by_resource.size(); ++resource) {
    const Uint128 amount = by_resource[resource];
    if (amount == 0) continue;
    if (resource < fabric.link_count()) {
      carried[LinkId(resource)] += amount;
      continue;
    }
    const auto links =
        fabric.trunk_links(static_cast<std::uint32_t>(resource - fabric.link_count()));
    Rate total;
    for (const LinkId link : links) total = total + fabric.link(link).rate;
    for (const LinkId link : links) {
      const double share = adaptive
                               ? static_cast<double>(fabric.link(link).rate.bits_per_second()) /
                                     static_cast<double>(total.bits_per_second())
                               : 1.0 / static_cast<double>(links.size());
      carried[link] += static_cast<Uint128>(static_cast<double>(amount) * share);
    }
  }
  std::vector<LinkUse> uses;
  for (const auto& [link, amount] : carried) {
    const Uint128 bytes = (amount + FlowHop::kOne / 2) >> FlowHop::kFractionBits;
    uses.push_back({link, static_cast<std::int64_t>(bytes)});
  }
  return uses;
}

}  // namespace trunkline
