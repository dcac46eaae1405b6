#include "engine/flow/detour_split.h"

#include <algorithm>
#include <utility>

#include "base/none.h"

namespace trunkline {
namespace {
// Max-min fair rates of flows by one of their two ways.
template <typename Hops, typename Limit>
std::vector<FlowRate> Share(std::span<const DividedFlow> flows, std::span<const Rate> capacities,
                            Hops hops_of, Limit limit_of) {
  constexpr std::uint32_t kNobody = UINT32_MAX;
  constexpr Rate kNoLimit = Rate::BitsPerSecond(INT64_MAX);
  FlowNetwork network(capacities);
  std::vector<std::uint32_t> bundles(flows.size(), kNobody);
  for (std::uint32_t f = 0; f < flows.size(); ++f) {
    const std::span<const FlowHop> hops = hops_of(f);
    if (hops.empty() || limit_of(f).units == 0) continue;
    const FlowRate limit = std::min(limit_of(f), LoneRate(hops, capacities, kNoLimit));
    if (limit.units > 0) bundles[f] = network.Start(f, hops, limit, Bytes(1), Time());
  }
  network.Solve(Time());
  std::vector<FlowRate> rates;
  for (const std::uint32_t bundle : bundles) {
    rates.push_back(bundle == kNobody ? FlowRate() : network.rate(bundle));
  }
  return rates;
}

// Flows over the resources that they cross alone: of a fabric of thousands, some hundreds.
struct Crossed {
  std::vector<DividedFlow> flows;
  std::vector<Rate> capacities;
  std::vector<FlowHop> hops;  // of all flows
};

Crossed OnlyCrossed(std::span<const DividedFlow> flows, std::span<const Rate> capacities) {
  Crossed crossed;
  std::size_t count = 0;
  for (const DividedFlow& flow : flows) count += flow.minimal.size() + flow.detours.size();
  crossed.hops.reserve(count);  // spans into it stay
  std::vector<std::uint32_t> numbers(capacities.size(), kNone);
  const auto add = [&](std::span<const FlowHop> hops) {
    const std::size_t begin = crossed.hops.size();
    for (const FlowHop& hop : hops) {
      std::uint32_t& number = numbers[hop.resource];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(crossed.capacities.size());
        crossed.capacities.push_back(capacities[hop.resource]);
      }
      crossed.hops.push_back({number, hop.weight});
    }
    return std::span<const FlowHop>(crossed.hops).subspan(begin);
  };
  for (const DividedFlow& flow : flows) {
    const auto minimal = add(flow.minimal);
    crossed.flows.push_back({minimal, add(flow.detours), flow.limit});
  }
  return crossed;
}

// What flows at these rates leave of the resources, in whole bits a second.
std::vector<Rate> Left(std::span<const DividedFlow> flows, std::span<const FlowRate> rates,
                       std::span<const Rate> capacities) {
  std::vector<Uint128> taken(capacities.size(), 0);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const FlowHop& hop : flows[f].minimal) {
      taken[hop.resource] += static_cast<Uint128>(hop.weight) * rates[f].units;
    }
  }
  constexpr int kBits = FlowHop::kFractionBits + FlowRate::kFractionBits;
  std::vector<Rate> left;
  for (std::size_t r = 0; r < capacities.size(); ++r) {
    const Uint128 all = FlowNetwork::Units(capacities[r]);
    const Uint128 rest = all - std::min(taken[r], all);
    left.push_back(Rate::BitsPerSecond(static_cast<std::int64_t>(rest >> kBits)));
  }
  return left;
}

}  // namespace

std::vector<DividedRate> DivideFlows(std::span<const DividedFlow> all,
                                     std::span<const Rate> capacities) {
  const Crossed crossed = OnlyCrossed(all, capacities);
  const std::span<const DividedFlow> flows = crossed.flows;
  const auto minimal = Share(
      flows, crossed.capacities, [&](std::uint32_t f) { return flows[f].minimal; },
      [&](std::uint32_t f) { return flows[f].limit; });
  const auto detours = Share(
      flows, Left(flows, minimal, crossed.capacities),
      [&](std::uint32_t f) { return flows[f].detours; },
      [&](std::uint32_t f) { return FlowRate{flows[f].limit.units - minimal[f].units}; });
  std::vector<DividedRate> rates;
  for (std::size_t f = 0; f < flows.size(); ++f) rates.push_back({minimal[f], detours[f]});
  return rates;
}

std::vector<FlowHop> HopsOf(const DividedFlow& flow, const DividedRate& rate) {
  const std::uint64_t both = rate.minimal.units + rate.detours.units;
  if (both == 0) return {flow.minimal.begin(), flow.minimal.end()};
  std::vector<std::pair<std::uint32_t, Uint128>> taken;
  taken.reserve(flow.minimal.size() + flow.detours.size());
  const auto add = [&](std::span<const FlowHop> hops, FlowRate part) {
    for (const FlowHop& hop : hops) {
      if (part.units > 0) {
        taken.emplace_back(hop.resource, static_cast<Uint128>(hop.weight) * part.units);
      }
    }
  };
  add(flow.minimal, rate.minimal);
  add(flow.detours, rate.detours);
  std::ranges::sort(taken, {}, &std::pair<std::uint32_t, Uint128>::first);
  std::vector<FlowHop> hops;
  for (std::size_t i = 0; i < taken.size();) {
    const std::uint32_t resource = taken[i].first;
    Uint128 amount = 0;
    for (; i < taken.size() && taken[i].first == resource; ++i) amount += taken[i].second;
    const auto weight = static_cast<std::uint64_t>(amount / both);
    if (weight > 0) hops.push_back({resource, weight});
  }
  return hops;
}

}  // namespace trunkline
