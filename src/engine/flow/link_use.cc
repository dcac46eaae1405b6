#include "engine/flow/link_use.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/flow/network.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

using Carried = std::map<LinkId, Uint128>;

double RateOf(const Fabric& fabric, LinkId link) {
  return static_cast<double>(fabric.link(link).rate.bits_per_second());
}

// Divides `amount` over the links of a trunk, in proportion to their rates or evenly.
void Divide(const Fabric& fabric, std::span<const LinkId> links, bool by_rate, Uint128 amount,
            Carried& carried) {
  double total = 0;
  for (const LinkId link : links) total += RateOf(fabric, link);
  for (const LinkId link : links) {
    const double share =
        by_rate ? RateOf(fabric, link) / total : 1.0 / static_cast<double>(links.size());
    carried[link] += static_cast<Uint128>(static_cast<double>(amount) * share);
  }
}

// Divides it so that the links that have carried least for their rates come level.
void Level(const Fabric& fabric, std::span<const LinkId> links, Uint128 amount, Carried& carried) {
  std::vector<std::pair<double, LinkId>> order;
  for (const LinkId link : links) {
    order.emplace_back(static_cast<double>(carried[link]) / RateOf(fabric, link), link);
  }
  std::ranges::sort(order);
  double level = 0;
  double rates = 0;
  auto sum = static_cast<double>(amount);
  auto end = order.begin();
  while (end != order.end() && (end == order.begin() || level > end->first)) {
    rates += RateOf(fabric, end->second);
    sum += static_cast<double>(carried[end->second]);
    level = sum / rates;
    ++end;
  }
  for (auto at = order.begin(); at != end; ++at) {
    carried[at->second] = static_cast<Uint128>(level * RateOf(fabric, at->second));
  }
}

}  // namespace

std::vector<LinkUse> LinkUses(const Router& router, std::span<const Uint128> by_resource) {
  const Fabric& fabric = router.fabric();
  const bool adaptive = router.options().policy == RoutingPolicy::kAdaptive;
  Carried carried;
  std::map<std::uint32_t, Uint128> in_parts;  // by trunk: what has gone by parts of it
  std::vector<std::pair<std::span<const LinkId>, Uint128>> parts;
  for (std::size_t part = fabric.resource_count(); part < by_resource.size(); ++part) {
    if (by_resource[part] == 0) continue;
    parts.emplace_back(router.trunk_links(ResourceId(part)), by_resource[part]);
    in_parts[fabric.link(parts.back().first.front()).trunk] += by_resource[part];
  }
  // What has fewer links to choose from first: the others avoid those.
  std::ranges::stable_sort(parts, {}, [](const auto& part) { return part.first.size(); });
  for (const auto& [links, amount] : parts) Level(fabric, links, amount, carried);

  for (std::size_t i = 0; i < std::min(by_resource.size(), fabric.resource_count()); ++i) {
    const Uint128 amount = by_resource[i];
    if (amount == 0) continue;
    if (i < fabric.link_count()) {
      carried[LinkId(i)] += amount;
      continue;
    }
    const auto trunk = static_cast<std::uint32_t>(i - fabric.link_count());
    if (const auto part = in_parts.find(trunk); part != in_parts.end()) {
      Level(fabric, fabric.trunk_links(trunk), amount - part->second, carried);
    } else {
      Divide(fabric, fabric.trunk_links(trunk), adaptive, amount, carried);
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
