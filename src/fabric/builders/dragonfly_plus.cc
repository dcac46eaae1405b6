#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/plural.h"
#include "fabric/builders/global_cables.h"
#include "fabric/builders/switch_graph.h"

namespace trunkline {
namespace {

// Groups of leaves and spines, each leaf cabled to each spine of its group; the spines' global
// cables join the groups (Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi: Dragonfly+: Low Cost
// Topology for Scaling Datacenters, HiPINEB 2017).
struct DragonflyPlusShape {
  std::uint32_t leaves = 1;  // of a group
  std::uint32_t spines = 1;  // of a group
  std::uint32_t ends = 1;    // of a leaf
  std::uint32_t ports = 1;   // global ones of a spine
  std::uint32_t groups = 1;
  Rate uplink;
  Rate global;

  [[nodiscard]] GlobalWiring wiring() const { return {groups, spines, ports}; }
};

void CableDragonflyPlus(const DragonflyPlusShape& shape, const SwitchGraph::AddCable& cable) {
  const std::uint32_t first_spine = shape.groups * shape.leaves;
  for (std::uint32_t leaf = 0; leaf < first_spine; ++leaf) {
    for (std::uint32_t spine = 0; spine < shape.spines; ++spine) {
      cable(leaf, first_spine + leaf / shape.leaves * shape.spines + spine, shape.uplink);
    }
  }
  JoinGroups(shape.wiring(), [&](GroupRouter from, GroupRouter to) {
    cable(first_spine + from.group * shape.spines + from.router,
          first_spine + to.group * shape.spines + to.router, shape.global);
  });
}

// As for the dragonfly, of one unit an end: a cable between groups carries P^2 / (N trunk), P ends
// a group and N in all; one from a leaf to a spine what the leaf's p ends send over the global
// cables of the spine, p P h / (N trunk) at most, and its part of what they send within the group,
// p (P - p) / (N spines).
double DragonflyPlusUniformRate(const DragonflyPlusShape& shape) {
  const double group_ends = static_cast<double>(shape.ends) * shape.leaves;
  const double ends = group_ends * shape.groups;
  const auto rate = [](Rate of) { return static_cast<double>(of.bits_per_second()); };
  double up = shape.ends * (group_ends - shape.ends) / shape.spines;
  double per_end = HUGE_VAL;
  if (shape.groups > 1) {
    const double trunk = shape.wiring().trunk();
    per_end = std::min(per_end, rate(shape.global) * ends * trunk / (group_ends * group_ends));
    up += shape.ends * group_ends * shape.ports / trunk;
  }
  return up > 0 ? std::min(per_end, rate(shape.uplink) * ends / up) : per_end;
}

Result<NetworkPlan> PlanDragonflyPlus(const FabricParameters& parameters) {
  if (!parameters.Has("h")) {
    return parameters.Fail(
        "nodes", "TL1405", "a Dragonfly+ needs h",
        "write h: p=h, leaves=h, spines=h and g=spines h + 1 follow, each if absent");
  }
  DragonflyPlusShape shape{.ports = parameters.Count("h", 1),
                           .uplink = parameters.uplink(),
                           .global = parameters.link() * parameters.Count("global", 1)};
  shape.leaves = parameters.Count("leaves", shape.ports);
  shape.spines = parameters.Count("spines", shape.ports);
  shape.ends = parameters.Count("p", shape.ports);
  const auto groups = ReadGroups(parameters, shape.wiring(), "g", "spines", "h");
  if (!groups) return std::unexpected(groups.error());
  shape.groups = *groups;
  const double leaves = static_cast<double>(shape.groups) * shape.leaves;
  const double spines = static_cast<double>(shape.groups) * shape.spines;
  if (leaves + spines > kMaxSwitches) return TooManySwitches(leaves + spines);

  SwitchGraph graph;
  graph.summary = fmt::format("{} of {} of {} and {} of {}; {}", Plural(shape.groups, "group"),
                              Plural(shape.leaves, "leaf", "leaves"), Plural(shape.ends, "end"),
                              Plural(shape.spines, "spine"), Plural(shape.ports, "global cable"),
                              shape.wiring().Description());
  graph.leaves = static_cast<std::uint32_t>(leaves);
  graph.spines = static_cast<std::uint32_t>(spines);
  graph.ends = shape.ends;
  graph.groups = shape.groups;
  graph.fastest = std::max(shape.uplink, shape.global);
  graph.cables = leaves * shape.spines + static_cast<double>(shape.wiring().cables());
  graph.cable = [shape](const SwitchGraph::AddCable& cable) { CableDragonflyPlus(shape, cable); };
  if (HalvesNodes(graph, parameters.nics()) && graph.cables <= kMaxCables) {
    graph.bisection = BisectionOfUniformTraffic(
        leaves * shape.ends, DragonflyPlusUniformRate(shape),
        static_cast<double>(parameters.link().bits_per_second()), CutInOrder(graph));
  }
  return PlanSwitchGraph(parameters, std::move(graph));
}

}  // namespace

const Builder& DragonflyPlusBuilder() {
  static const Builder builder = {
      {"dragonfly-plus",
       "groups of leaves and spines, groups joined by the spines' global cables, spread evenly",
       {CountKey("h", "required", "global cables of a spine"), CountKey("p", "h", "NICs of a leaf"),
        CountKey("leaves", "h", "leaves of a group"), CountKey("spines", "h", "spines of a group"),
        CountKey("g", "spines h + 1", "groups", kMaxSwitches),
        CountKey("global", "1", "rate of a global cable, as a multiple of link", 256), LinkKey(),
        UplinkKey()}},
      PlanDragonflyPlus};
  return builder;
}

}  // namespace trunkline
