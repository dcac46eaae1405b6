#include "engine/flow/link_use.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

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

// Bytes that may take any of some links of a trunk.
struct Choice {
  std::span<const LinkId> links;
  double amount = 0;
  std::vector<double> placed;  // by link
};

// Places the bytes of a choice anew: those of its links come level that carry least for their
// rates.
void Level(const Fabric& fabric, Choice& choice, std::map<LinkId, double>& carried) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < choice.links.size(); ++i) {
    double& others = carried[choice.links[i]];
    others -= choice.placed[i];
    choice.placed[i] = 0;
    order.emplace_back(others / RateOf(fabric, choice.links[i]), i);
  }
  std::ranges::sort(order);
  double level = 0;
  double rates = 0;
  double sum = choice.amount;
  auto end = order.begin();
  while (end != order.end() && (end == order.begin() || level > end->first)) {
    const double rate = RateOf(fabric, choice.links[end->second]);
    rates += rate;
    sum += end->first * rate;
    level = sum / rates;
    ++end;
  }
  for (auto at = order.begin(); at != end; ++at) {
    const double rate = RateOf(fabric, choice.links[at->second]);
    choice.placed[at->second] = std::max(0.0, level - at->first) * rate;
    carried[choice.links[at->second]] += choice.placed[at->second];
  }
}

// In turn, again and again: each brings the sum of squared loads down, which is least where the
// busiest link of a trunk is as little busy as it can be. After a few turns hardly any byte moves.
void LevelAll(const Fabric& fabric, std::span<Choice> choices, Carried& carried) {
  constexpr int kTurns = 16;
  // What has fewer links to choose from first: the others avoid those.
  std::ranges::stable_sort(choices, {}, [](const Choice& choice) { return choice.links.size(); });
  for (Choice& choice : choices) choice.placed.assign(choice.links.size(), 0);
  std::map<LinkId, double> by_choice;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Choice& choice : choices) Level(fabric, choice, by_choice);
  }
  for (const auto& [link, bytes] : by_choice) {
    carried[link] += static_cast<Uint128>(std::max(0.0, bytes));
  }
}

}  // namespace

std::vector<LinkUse> LinkUses(const Router& router, std::span<const Uint128> by_resource) {
  const Fabric& fabric = router.fabric();
  const bool adaptive = router.options().policy == RoutingPolicy::kAdaptive;
  Carried carried;
  std::map<std::uint32_t, Uint128> in_parts;  // by trunk: what has gone by parts of it
  std::vector<Choice> choices;
  for (std::size_t part = fabric.resource_count(); part < by_resource.size(); ++part) {
    const auto links = router.trunk_links(ResourceId(part));
    if (by_resource[part] == 0 || links.empty()) continue;  // a cut's bytes are those of parts
    choices.push_back({links, static_cast<double>(by_resource[part]), {}});
    in_parts[fabric.link(links.front()).trunk] += by_resource[part];
  }
  for (std::size_t i = 0; i < std::min(by_resource.size(), fabric.resource_count()); ++i) {
    const Uint128 amount = by_resource[i];
    if (amount == 0) continue;
    if (i < fabric.link_count()) {
      carried[LinkId(i)] += amount;
      continue;
    }
    const auto trunk = static_cast<std::uint32_t>(i - fabric.link_count());
    const auto links = fabric.trunk_links(trunk);
    if (const auto part = in_parts.find(trunk); part != in_parts.end()) {
      choices.push_back({links, static_cast<double>(amount - part->second), {}});
    } else {
      Divide(fabric, links, adaptive, amount, carried);
    }
  }
  LevelAll(fabric, choices, carried);
  std::vector<LinkUse> uses;
  for (const auto& [link, amount] : carried) {
    const Uint128 bytes = (amount + FlowHop::kOne / 2) >> FlowHop::kFractionBits;
    uses.push_back({link, static_cast<std::int64_t>(bytes)});
  }
  return uses;
}

}  // namespace trunkline
