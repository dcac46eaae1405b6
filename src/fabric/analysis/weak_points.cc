#include "trunkline/fabric/weak_points.h"

#include <algorithm>
#include <map>

#include "fabric/analysis/connectivity.h"
#include "fabric/analysis/diversity.h"
#include "fabric/analysis/halves.h"
#include "fabric/tier_name.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

std::vector<bool> ThinnestHalves(const BuiltFabric& built) {
  // These halves attain what the builder knows exactly.
  const bool exact = built.bisection && built.bisection->lower == built.bisection->upper;
  return exact ? HalvedInOrder(built.fabric.node_count()) : ThinnestHalving(built.fabric).side;
}

// Switches that pass anything on, the most loaded first; among equals, in order.
std::vector<SwitchLoad> LoadsOf(const Fabric& fabric, const std::vector<bool>& failed) {
  std::vector<SwitchLoad> loads;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind != DeviceKind::kSwitch) continue;
    SwitchLoad load{.device = DeviceId(i), .down = {}, .out = {}};
    for (LinkId out : fabric.out(DeviceId(i))) {
      if (!failed.empty() && failed[Index(out)]) continue;
      const Device& to = fabric.device(fabric.link(out).to);
      const bool down = to.kind != DeviceKind::kSwitch || to.tier < device.tier;
      Rate& sum = down ? load.down : load.out;
      sum = sum + fabric.link(out).rate;
    }
    if (load.out > Rate()) loads.push_back(load);
  }
  std::ranges::stable_sort(loads, std::ranges::greater(), &SwitchLoad::oversubscription);
  return loads;
}

double Worst(const std::vector<SwitchLoad>& loads) {
  return loads.empty() ? 0 : loads.front().oversubscription();
}

// What fails: a switch with all its cables, or one cable. Both directions of each.
struct Casualty {
  std::string target;
  std::vector<LinkId> links;
  double rate = 0;  // of the links together
};

// Of each kind the casualty with the highest rate; among equals, the first.
std::map<std::string, Casualty> WorstOfEachKind(const Fabric& fabric) {
  std::map<std::string, Casualty> worst;
  const auto offer = [&](const std::string& kind, const std::string& target,
                         std::vector<LinkId> links) {
    double rate = 0;
    for (LinkId link : links) rate += fabric.link(link).rate.bytes_per_second();
    Casualty& known = worst[kind];
    if (rate > known.rate) known = {target, std::move(links), rate};
  };
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind != DeviceKind::kSwitch) continue;
    const auto links = fabric.out(DeviceId(i));
    offer(DeviceClass(device), fabric.name(DeviceId(i)), {links.begin(), links.end()});
  }
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    if (fabric.link(LinkId(i)).kind != LinkKind::kNetwork) continue;
    const CableName cable = NameOfCable(fabric, LinkId(i));
    offer(cable.kind, cable.name, {LinkId(i)});
  }
  return worst;
}

FailureCost CostOf(const Fabric& fabric, const std::string& kind, const Casualty& casualty,
                   const WeakPoints& weak) {
  std::vector<bool> failed(fabric.link_count(), false);
  for (LinkId link : casualty.links) {
    failed[Index(link)] = true;
    failed[Index(fabric.reverse(link))] = true;
  }
  const LostEnds lost = FindLostEnds(fabric, failed);
  return {.what = kind,
          .target = casualty.target,
          .nics_lost = lost.nics,
          .nodes_lost = lost.nodes,
          .cut = LeastCut(fabric, weak.side, failed).capacity,
          .oversubscription = Worst(LoadsOf(fabric, failed))};
}

}  // namespace

WeakPoints FindWeakPoints(const BuiltFabric& built) {
  const Fabric& fabric = built.fabric;
  WeakPoints weak{.side = ThinnestHalves(built)};
  weak.cut = LeastCut(fabric, weak.side);
  weak.loaded = LoadsOf(fabric, {});
  weak.worst_oversubscription = Worst(weak.loaded);
  weak.diversity = MeasureDiversity(fabric);
  weak.single_points = FindSinglePoints(fabric);
  for (const auto& [kind, casualty] : WorstOfEachKind(fabric)) {
    weak.failures.push_back(CostOf(fabric, kind, casualty, weak));
  }
  return weak;
}

}  // namespace trunkline
