#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "fabric/builders/global_cables.h"
#include "fabric/builders/switch_graph.h"

namespace trunkline {
namespace {

// Groups of chassis of routers. Routers are joined all to all within a chassis, and with the
// routers of equal index in the other chassis of the group. Groups are joined in one of two ways:
//
// Of p, a, h, g: the dragonfly of Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable
// Dragonfly Topology (ISCA 2008), one chassis a group, joined as global_cables.h says.
//
// Of groups, chassis, routers, ends: SimGrid's DRAGONFLY. Every two groups are joined once, router
// j of group i with router i of group j (counted modulo the routers of a group).
struct DragonflyShape {
  std::uint32_t groups = 1;
  std::uint32_t chassis = 1;
  std::uint32_t routers = 1;  // of a chassis
  std::uint32_t ends = 1;     // of a router
  std::uint32_t ports = 0;    // h, global ones of a router; 0: SimGrid's single cables
  // Rates: between groups, between chassis, within a chassis.
  Rate global;
  Rate across;
  Rate local;

  [[nodiscard]] std::uint32_t group_routers() const { return chassis * routers; }
  [[nodiscard]] GlobalWiring wiring() const { return {groups, group_routers(), ports}; }
};

void CableGroup(const DragonflyShape& shape, std::uint32_t first,
                const SwitchGraph::AddCable& cable) {
  for (std::uint32_t i = 0; i < shape.group_routers(); ++i) {
    for (std::uint32_t j = i + 1; j < shape.group_routers(); ++j) {
      if (i / shape.routers == j / shape.routers) {
        cable(first + i, first + j, shape.local);
      } else if (i % shape.routers == j % shape.routers) {
        cable(first + i, first + j, shape.across);
      }
    }
  }
}

void CableDragonfly(const DragonflyShape& shape, const SwitchGraph::AddCable& cable) {
  const std::uint32_t size = shape.group_routers();
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    CableGroup(shape, group * size, cable);
  }
  if (shape.ports > 0) {
    JoinGroups(shape.wiring(), [&](GroupRouter from, GroupRouter to) {
      cable(from.group * size + from.router, to.group * size + to.router, shape.global);
    });
    return;
  }
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    for (std::uint32_t other = group + 1; other < shape.groups; ++other) {
      cable(group * size + other % size, other * size + group % size, shape.global);
    }
  }
}

constexpr std::array kBalancedKeys = {"p", "a", "h", "g"};
constexpr std::array kChassisKeys = {"groups", "chassis", "routers", "ends", "across"};

// Where keys are absent, the balance of Kim et al.: a = 2p = 2h, and as many groups as a group has
// global ports, and one.
Result<DragonflyShape> ReadBalanced(const FabricParameters& parameters, DragonflyShape shape) {
  for (const char* key : kChassisKeys) {
    if (!parameters.Has(key)) continue;
    return parameters.Fail(key, "TL1405", fmt::format("{} and h both say the shape", key),
                           "give p, a, h and g, or groups, chassis, routers and ends");
  }
  if (!parameters.Has("h")) {
    return parameters.Fail("g", "TL1405", "a dragonfly of p, a, h and g needs h",
                           "write h: p=h, a=2h and g=ah+1 follow, each if absent");
  }
  shape.ports = parameters.Count("h", 1);
  shape.ends = parameters.Count("p", shape.ports);
  shape.routers = parameters.Count("a", 2 * shape.ports);
  const auto groups = ReadGroups(parameters, shape.wiring(), "g", "a", "h");
  if (!groups) return std::unexpected(groups.error());
  shape.groups = *groups;
  return shape;
}

Result<DragonflyShape> ReadShape(const FabricParameters& parameters) {
  const auto rate = [&](const char* key) { return parameters.link() * parameters.Count(key, 1); };
  DragonflyShape shape{.global = rate("global"), .across = rate("across"), .local = rate("local")};
  const auto has = [&](const char* key) { return parameters.Has(key); };
  if (std::ranges::any_of(kBalancedKeys, has)) return ReadBalanced(parameters, shape);
  if (std::ranges::none_of(kChassisKeys, has)) {
    return parameters.Fail("nodes", "TL1405", "a dragonfly needs h, or groups and routers",
                           parameters.nodes() == 0 ? "write h=4, or p=4,a=8,h=4,g=33"
                                                   : "write h, or groups and routers");
  }
  shape.groups = parameters.Count("groups", 1);
  shape.chassis = parameters.Count("chassis", 1);
  shape.routers = parameters.Count("routers", 1);
  shape.ends = parameters.Count("ends", 1);
  return shape;
}

std::string Summary(const DragonflyShape& shape) {
  const std::uint32_t routers = shape.group_routers();
  if (shape.ports == 0) {
    return fmt::format("{} groups of {} routers ({} chassis), {} ends a router", shape.groups,
                       routers, shape.chassis, shape.ends);
  }
  return fmt::format("p={}, a={}, h={}, g={}: routers of {} ports; {}", shape.ends, routers,
                     shape.ports, shape.groups, shape.ends + routers - 1 + shape.ports,
                     shape.wiring().Description());
}

// Uniform traffic of one unit an end, on minimal paths spread evenly over the cables between two
// groups. A cable between groups carries P^2 / (N trunk), P ends a group and N in all. One between
// two routers: what their ends exchange, p^2 / N, and what the ends of either exchange with other
// groups over the global cables of the other, twice p P h / (N trunk) at most.
double DragonflyUniformRate(const DragonflyShape& shape) {
  const double group_ends = static_cast<double>(shape.ends) * shape.routers;
  const double ends = group_ends * shape.groups;
  const auto rate = [](Rate of) { return static_cast<double>(of.bits_per_second()); };
  double local = static_cast<double>(shape.ends) * shape.ends;
  double per_end = HUGE_VAL;
  if (shape.groups > 1) {
    const double trunk = shape.wiring().trunk();
    per_end = std::min(per_end, rate(shape.global) * ends * trunk / (group_ends * group_ends));
    local += 2 * shape.ends * group_ends * shape.ports / trunk;
  }
  return shape.routers > 1 ? std::min(per_end, rate(shape.local) * ends / local) : per_end;
}

Result<NetworkPlan> PlanDragonfly(const FabricParameters& parameters) {
  const auto shape = ReadShape(parameters);
  if (!shape) return std::unexpected(shape.error());
  const double routers = static_cast<double>(shape->groups) * shape->group_routers();
  if (routers > kMaxSwitches) return TooManySwitches(routers);
  const double pairs = static_cast<double>(shape->groups) * (shape->groups - 1.0) / 2;
  const double global = shape->ports > 0 ? static_cast<double>(shape->wiring().cables()) : pairs;
  SwitchGraph graph;
  graph.summary = Summary(*shape);
  graph.leaves = static_cast<std::uint32_t>(routers);
  graph.ends = shape->ends;
  graph.groups = shape->groups;
  graph.fastest = std::max({shape->global, shape->across, shape->local});
  graph.cables = routers * (shape->routers + shape->chassis - 2.0) / 2 + global;
  graph.cable = [shape = *shape](const SwitchGraph::AddCable& cable) {
    CableDragonfly(shape, cable);
  };
  if (shape->ports > 0 && HalvesNodes(graph, parameters.nics()) && graph.cables <= kMaxCables) {
    graph.bisection = BisectionOfUniformTraffic(
        routers * shape->ends, DragonflyUniformRate(*shape),
        static_cast<double>(parameters.link().bits_per_second()), CutInOrder(graph));
  }
  return PlanSwitchGraph(parameters, std::move(graph));
}

FabricKey MultipleKey(const char* name, const char* summary) {
  return CountKey(name, "1", summary, 256);
}

}  // namespace

const Builder& DragonflyBuilder() {
  static const Builder builder = {
      {"dragonfly",
       "groups of routers joined all to all, groups joined by global cables spread evenly; or "
       "SimGrid's DRAGONFLY, from groups, chassis, routers and ends",
       {CountKey("h", "none: groups and routers are given", "global cables of a router"),
        CountKey("p", "h", "NICs of a router"), CountKey("a", "2h", "routers of a group"),
        CountKey("g", "ah + 1", "groups", kMaxSwitches),
        CountKey("groups", "1", "groups, every two joined once"),
        CountKey("chassis", "1", "chassis of a group", 64),
        CountKey("routers", "1", "routers of a chassis"), CountKey("ends", "1", "NICs of a router"),
        MultipleKey("global", "rate of a global cable, as a multiple of link"),
        MultipleKey("across", "rate between routers of two chassis, as a multiple of link"),
        MultipleKey("local", "rate between routers of a chassis, as a multiple of link"),
        LinkKey()}},
      PlanDragonfly};
  return builder;
}

}  // namespace trunkline
