#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "fabric/builders/builder.h"

namespace trunkline {
namespace {

// Groups of chassis of routers. Routers are joined all to all within a chassis, and with the
// routers of equal index in the other chassis of the group. Groups are joined in one of two ways:
//
// Of p, a, h, g: the dragonfly of Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable
// Dragonfly Topology (ISCA 2008), one chassis a group. The a h global ports of a group are numbered
// router by router and lead to the groups 1, 2 … g - 1 further on (modulo g), round after round:
// with g = ah + 1 this is the palm tree arrangement (Camarero, Vallejo, Beivide: Topological
// Characterization of Hamming and Dragonfly Networks, TACO 2014). Rounds that fill are trunks of
// one cable for every two groups. The ports left over by the last, r of a group, lead to its
// nearest groups, r / 2 on either side, and where r is odd also to the group opposite if g is even
// (a port of each group stays free if it is odd).
//
// Of groups, chassis, routers, ends: SimGrid's DRAGONFLY. Every two groups are joined once, router
// j of group i with router i of group j (counted modulo the routers of a group).
struct Shape {
  std::uint32_t groups = 1;
  std::uint32_t chassis = 1;
  std::uint32_t routers = 1;  // of a chassis
  std::uint32_t ends = 1;     // of a router
  std::uint32_t ports = 0;    // h, global ones of a router; 0: SimGrid's single cables
  // Rates, as multiples of a NIC's: between groups, between chassis, within a chassis.
  std::uint32_t global = 1;
  std::uint32_t across = 1;
  std::uint32_t local = 1;
  Rate link;
  Time cable_latency;
  Time switch_latency;

  [[nodiscard]] std::uint32_t group_routers() const { return chassis * routers; }
};

// One cable between two groups: from router `from` of group i to router `to` of group i + offset.
struct GlobalCable {
  std::uint32_t offset = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

// Cables of every group to groups further on, so that each is listed at one of its ends: offsets up
// to g / 2, and the opposite group's (offset g / 2, g even) from the first half of the groups only.
std::vector<GlobalCable> GlobalCables(const Shape& shape) {
  const std::uint32_t others = shape.groups - 1;
  std::vector<GlobalCable> cables;
  if (others == 0) return cables;
  const std::uint32_t ports = shape.group_routers() * shape.ports;
  const std::uint32_t left = ports % others;
  for (std::uint32_t round = 0; round <= ports / others; ++round) {
    const bool full = round < ports / others;
    const std::uint32_t first = round * others;
    for (std::uint32_t offset = 1; 2 * offset <= shape.groups; ++offset) {
      const bool opposite = 2 * offset == shape.groups;
      std::uint32_t from = offset - 1;
      std::uint32_t to = others - offset;
      if (!full) {
        if (opposite ? left % 2 == 0 : offset > left / 2) continue;
        // The ports of this round: those to groups ahead, to groups behind, to the one opposite.
        from = opposite ? left - 1 : offset - 1;
        to = opposite ? left - 1 : left / 2 * 2 - offset;
      }
      cables.push_back({offset, (first + from) / shape.ports, (first + to) / shape.ports});
    }
  }
  return cables;
}

std::uint64_t CountGlobalCables(const Shape& shape) {
  const std::uint64_t groups = shape.groups;
  if (groups == 1) return 0;
  if (shape.ports == 0) return groups * (groups - 1) / 2;
  const std::uint64_t ports = std::uint64_t{shape.group_routers()} * shape.ports;
  const bool one_free = ports % (groups - 1) % 2 == 1 && groups % 2 == 1;
  return groups * (ports - (one_free ? 1 : 0)) / 2;
}

// Ends and routers are numbered group by group.
void Write(const Shape& shape, FabricBuilder& builder, NetworkEnds ends) {
  const std::uint32_t group_routers = shape.group_routers();
  std::vector<DeviceId> routers(shape.groups * group_routers);
  for (std::uint32_t i = 0; i < routers.size(); ++i) {
    routers[i] = builder.AddDevice({.kind = DeviceKind::kSwitch,
                                    .tier = 1,
                                    .node = Device::kNoNode,
                                    .local = i,
                                    .latency = shape.switch_latency,
                                    .group = i / group_routers});
  }
  const auto cable = [&](DeviceId a, DeviceId b, std::uint32_t multiple) {
    builder.AddCable(a, b, shape.link * multiple, shape.cable_latency, LinkKind::kNetwork);
  };
  for (std::size_t end = 0; end < ends.size(); ++end) {
    cable(ends[end], routers[end / shape.ends], 1);
  }
  const std::vector<GlobalCable> global_cables =
      shape.ports > 0 ? GlobalCables(shape) : std::vector<GlobalCable>();
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    const std::uint32_t first = group * group_routers;
    for (std::uint32_t i = 0; i < group_routers; ++i) {
      for (std::uint32_t j = i + 1; j < group_routers; ++j) {
        const bool same_chassis = i / shape.routers == j / shape.routers;
        const bool same_index = i % shape.routers == j % shape.routers;
        if (!same_chassis && !same_index) continue;
        cable(routers[first + i], routers[first + j], same_chassis ? shape.local : shape.across);
      }
    }
    for (const GlobalCable& global : global_cables) {
      if (2 * global.offset == shape.groups && group >= global.offset) continue;
      const std::uint32_t other = (group + global.offset) % shape.groups;
      cable(routers[first + global.from], routers[other * group_routers + global.to], shape.global);
    }
    if (shape.ports > 0) continue;
    for (std::uint32_t other = group + 1; other < shape.groups; ++other) {
      cable(routers[first + other % group_routers],
            routers[other * group_routers + group % group_routers], shape.global);
    }
  }
}

constexpr std::array kBalancedKeys = {"p", "a", "h", "g"};
constexpr std::array kChassisKeys = {"groups", "chassis", "routers", "ends", "across"};

// Where keys are absent, the balance of Kim et al.: a = 2p = 2h, and as many groups as a group has
// global ports, and one.
Result<Shape> ReadBalanced(const FabricParameters& parameters, Shape shape) {
  for (const char* key : kChassisKeys) {
    if (!parameters.Has(key)) continue;
    return parameters.Fail(key, "TL1405", fmt::format("{} and h both say the shape", key),
                           "give p, a, h and g, or groups, chassis, routers and ends");
  }
  if (!parameters.Has("h")) {
    return parameters.Fail("g", "TL1405", "a dragonfly of p, a, h and g needs h",
                           "write h=4, say: p=4, a=8 and g=33 follow, each if absent");
  }
  shape.ports = parameters.Count("h", 1);
  shape.ends = parameters.Count("p", shape.ports);
  shape.routers = parameters.Count("a", 2 * shape.ports);
  const double most = static_cast<double>(shape.routers) * shape.ports + 1;
  const double groups = parameters.Has("g") ? parameters.Count("g", 1) : most;
  if (groups > most) {
    return parameters.Fail(
        "g", "TL1405",
        fmt::format("{} routers of {} global cables reach {} other groups, not {}", shape.routers,
                    shape.ports, most - 1, groups - 1),
        fmt::format("at most g=a*h+1={}; {} groups need h={} or a={}", most, groups,
                    std::ceil((groups - 1) / shape.routers),
                    std::ceil((groups - 1) / shape.ports)));
  }
  // The largest that the bounds of a fabric admit fits; more is refused by them.
  shape.groups = static_cast<std::uint32_t>(std::min(groups, kMaxEnds + 1));
  return shape;
}

Result<Shape> ReadShape(const FabricParameters& parameters) {
  const Shape shape{.global = parameters.Count("global", 1),
                    .local = parameters.Count("local", 1),
                    .link = parameters.link(),
                    .cable_latency = parameters.cable_latency(),
                    .switch_latency = parameters.switch_latency()};
  const auto has = [&](const char* key) { return parameters.Has(key); };
  if (std::ranges::any_of(kBalancedKeys, has)) return ReadBalanced(parameters, shape);
  if (std::ranges::none_of(kChassisKeys, has)) {
    return parameters.Fail("nodes", "TL1405", "a dragonfly needs h, or groups and routers",
                           "write h=4, or p=4,a=8,h=4,g=33");
  }
  Shape chassis = shape;
  chassis.groups = parameters.Count("groups", 1);
  chassis.chassis = parameters.Count("chassis", 1);
  chassis.routers = parameters.Count("routers", 1);
  chassis.ends = parameters.Count("ends", 1);
  chassis.across = parameters.Count("across", 1);
  return chassis;
}

std::string Summary(const Shape& shape, std::uint64_t global_cables) {
  const std::uint32_t routers = shape.group_routers();
  if (shape.ports == 0) {
    return fmt::format("{} groups of {} routers ({} chassis), {} ends a router", shape.groups,
                       routers, shape.chassis, shape.ends);
  }
  std::string text = fmt::format("p={}, a={}, h={}, g={}: routers of {} ports, {} global cables",
                                 shape.ends, routers, shape.ports, shape.groups,
                                 shape.ends + routers - 1 + shape.ports, global_cables);
  if (shape.groups == 1) return text;
  const std::uint32_t ports = routers * shape.ports;
  const std::uint32_t others = shape.groups - 1;
  text += fmt::format(", {} or more between two groups", ports / others);
  if (ports % others != 0) {
    text += fmt::format(" (one more between some: {} ports a group for {} others)", ports, others);
  }
  return text;
}

Result<NetworkPlan> Plan(const FabricParameters& parameters) {
  const auto read = ReadShape(parameters);
  if (!read) return std::unexpected(read.error());
  const Shape shape = *read;
  const double routers = static_cast<double>(shape.groups) * shape.chassis * shape.routers;
  const double room = routers * shape.ends;
  if (room > kMaxEnds) return TooManyEnds(room);
  const std::uint32_t nics = parameters.nics();
  const auto full = static_cast<std::uint32_t>(room / nics);
  const std::uint32_t nodes = parameters.nodes() > 0 ? parameters.nodes() : full;
  if (nodes == 0 || nodes > full) {
    return parameters.Fail(
        "nodes", "TL1405",
        fmt::format("the dragonfly has room for {} nodes of {} NICs", full, nics),
        full > 0 ? fmt::format("nodes={} at most, or more groups, routers or ends", full)
                 : fmt::format("a router needs {} ends (p or ends), say", nics));
  }
  const std::uint64_t global_cables = CountGlobalCables(shape);
  NetworkPlan plan;
  plan.summary = Summary(shape, global_cables);
  plan.nodes = nodes;
  plan.switches = routers;
  plan.destinations = routers;
  plan.cables = static_cast<double>(nodes) * nics +
                routers * (shape.routers + shape.chassis - 2.0) / 2 +
                static_cast<double>(global_cables);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    plan.unit_of_node.push_back(node * nics / (shape.ends * shape.group_routers()));
  }
  plan.build = [shape](FabricBuilder& builder, NetworkEnds ends) { Write(shape, builder, ends); };
  return plan;
}

FabricKey CountKey(const char* name, const char* fallback, const char* summary,
                   double most = kMaxRadix) {
  return {name, FabricKey::Type::kCount, 1, most, fallback, summary};
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
        CountKey("g", "a h + 1", "groups", kMaxNodes),
        CountKey("groups", "1", "groups, every two joined once"),
        CountKey("chassis", "1", "chassis of a group", 64),
        CountKey("routers", "1", "routers of a chassis"), CountKey("ends", "1", "NICs of a router"),
        MultipleKey("global", "rate of a global cable, as a multiple of link"),
        MultipleKey("across", "rate between routers of two chassis, as a multiple of link"),
        MultipleKey("local", "rate between routers of a chassis, as a multiple of link"),
        LinkKey()}},
      Plan};
  return builder;
}

}  // namespace trunkline
