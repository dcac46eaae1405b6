#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/analysis/pair_distances.h"
#include "fabric/tier_name.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

// Rates of one switch.
struct SwitchRates {
  Rate down;
  Rate up;
  Rate sideways;
};

SwitchRates RatesOf(const Fabric& fabric, DeviceId id, TierSummary& tier) {
  SwitchRates rates;
  std::uint32_t ports = 0;
  for (LinkId out : fabric.out(id)) {
    const Link& link = fabric.link(out);
    const Device& to = fabric.device(link.to);
    ++ports;
    if (to.kind != DeviceKind::kSwitch || to.tier < tier.tier) {
      rates.down = rates.down + link.rate;
    } else if (to.tier > tier.tier) {
      rates.up = rates.up + link.rate;
      ++tier.cables_up;
    } else {
      rates.sideways = rates.sideways + link.rate;
    }
  }
  tier.ports = std::max(tier.ports, ports);
  return rates;
}

// Keeps the rates of the switch with the largest ratio.
void NoteOversubscription(const SwitchRates& rates, TierSummary& tier) {
  const Rate out = rates.up + rates.sideways;
  if (out == Rate()) return;
  const double ratio = rates.down.bytes_per_second() / out.bytes_per_second();
  if (tier.up != Rate() && ratio <= tier.oversubscription) return;
  tier.oversubscription = ratio;
  tier.down = rates.down;
  tier.up = out;
}

}  // namespace

FabricCounts CountParts(const Fabric& fabric) {
  FabricCounts counts{.nodes = fabric.node_count()};
  std::map<std::uint8_t, TierSummary> tiers;
  std::map<std::uint8_t, double> upward;
  double injection = 0;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    counts.gpus += device.kind == DeviceKind::kGpu;
    counts.nics += IsNetworkEnd(device.kind);
    if (device.kind != DeviceKind::kSwitch) continue;
    TierSummary& tier = tiers[device.tier];
    tier.tier = device.tier;
    ++tier.switches;
    const SwitchRates rates = RatesOf(fabric, DeviceId(i), tier);
    NoteOversubscription(rates, tier);
    upward[device.tier] += rates.up.bytes_per_second();
  }
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) continue;
    const bool between_switches = fabric.device(link.from).kind == DeviceKind::kSwitch &&
                                  fabric.device(link.to).kind == DeviceKind::kSwitch;
    ++(between_switches ? counts.switch_cables : counts.host_cables);
    if (!between_switches) injection += link.rate.bytes_per_second();
  }
  for (auto& [number, tier] : tiers) {
    tier.name = TierName(number);
    counts.tiers.push_back(tier);
    if (upward[number] > 0) {
      counts.oversubscription = std::max(counts.oversubscription, injection / upward[number]);
    } else {  // of switches side by side, the thinnest
      counts.oversubscription = std::max(counts.oversubscription, tier.oversubscription);
    }
  }
  counts.full_mesh_cables = counts.nics < 2 ? 0 : counts.nics * (counts.nics - 1) / 2;
  return counts;
}

SwitchEstimate EstimateSwitches(const FabricCounts& counts, std::uint32_t radix) {
  SwitchEstimate estimate{.servers = counts.nodes, .ports = radix, .why_not = {}};
  for (const TierSummary& tier : counts.tiers) {
    estimate.ports = std::max(estimate.ports, tier.ports);
    estimate.switches += tier.switches;
  }
  if (estimate.ports == 0) return estimate;
  estimate.estimate = 5.0 * static_cast<double>(estimate.servers) / estimate.ports;
  const auto unless = [&](bool assumed, const std::string& why) {
    if (!assumed) estimate.why_not.push_back(why);
  };
  unless(counts.tiers.size() == 3, fmt::format("{} {} of switches, not three", counts.tiers.size(),
                                               counts.tiers.size() == 1 ? "tier" : "tiers"));
  unless(counts.host_cables == counts.nodes,
         fmt::format("{:.4g} network cables a server, not one",
                     static_cast<double>(counts.host_cables) /
                         std::max(1.0, static_cast<double>(counts.nodes))));
  unless(counts.oversubscription == 1,
         fmt::format("{:.4g}:1 oversubscription, not 1:1", counts.oversubscription));
  const double full = 5.0 * estimate.ports * estimate.ports / 4;
  unless(static_cast<double>(estimate.switches) == full,
         fmt::format("{} {}, not the {:.0f} of a full tree of {}-port switches", estimate.switches,
                     estimate.switches == 1 ? "switch" : "switches", full, estimate.ports));
  return estimate;
}

HopStatistics CountHops(const Fabric& fabric) {
  const std::map<std::uint32_t, std::int64_t> pairs = CountPairs(fabric);
  HopStatistics hops;
  double reachable = 0;
  double links = 0;
  for (const auto& [distance, count] : pairs) {
    if (count == 0) continue;
    if (distance == kUnreachablePair) {
      hops.unreachable = static_cast<double>(count);
      continue;
    }
    hops.diameter_links = distance;
    reachable += static_cast<double>(count);
    links += static_cast<double>(count) * distance;
  }
  hops.unreachable /= std::max(1.0, reachable + hops.unreachable);
  if (reachable == 0) return hops;
  hops.diameter_switches = hops.diameter_links - 1;
  for (const auto& [distance, count] : pairs) {
    if (count == 0 || distance == kUnreachablePair) continue;
    hops.distribution.push_back(
        {static_cast<std::uint32_t>(distance) - 1, static_cast<double>(count) / reachable});
  }
  hops.mean_links = links / reachable;
  hops.mean_switches = hops.mean_links - 1;
  return hops;
}

}  // namespace trunkline
