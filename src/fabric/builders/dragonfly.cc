#include <fmt/format.h>

#include <utility>

#include "fabric/builders/builder.h"

namespace trunkline {
namespace {

// Groups of chassis of routers. Routers are joined all to all within a chassis, and with the
// routers of equal index in the other chassis of the group; every two groups are joined once,
// router j of group i with router i of group j (counted modulo the routers of a group). This is
// SimGrid's DRAGONFLY, and with one chassis the group of Kim, Dally, Scott, Abts:
// Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008).
struct Shape {
  std::uint32_t groups = 1;
  std::uint32_t chassis = 1;
  std::uint32_t routers = 1;  // of a chassis
  std::uint32_t ends = 1;     // of a router
  // Rates, as multiples of a NIC's: between groups, between chassis, within a chassis.
  std::uint32_t global = 1;
  std::uint32_t across = 1;
  std::uint32_t local = 1;
  Rate link;
  Time cable_latency;
  Time switch_latency;

  [[nodiscard]] std::uint32_t group_routers() const { return chassis * routers; }
};

void Write(const Shape& shape, FabricBuilder& builder, NetworkEnds ends) {
  std::vector<DeviceId> routers(shape.groups * shape.group_routers());
  for (std::uint32_t i = 0; i < routers.size(); ++i) {
    routers[i] = builder.AddDevice({.kind = DeviceKind::kSwitch,
                                    .tier = 1,
                                    .node = Device::kNoNode,
                                    .local = i,
                                    .latency = shape.switch_latency});
  }
  const auto cable = [&](DeviceId a, DeviceId b, std::uint32_t multiple) {
    builder.AddCable(a, b, shape.link * multiple, shape.cable_latency, LinkKind::kNetwork);
  };
  for (std::size_t end = 0; end < ends.size(); ++end) {
    cable(ends[end], routers[end / shape.ends], 1);
  }
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    const std::uint32_t first = group * shape.group_routers();
    for (std::uint32_t i = 0; i < shape.group_routers(); ++i) {
      for (std::uint32_t j = i + 1; j < shape.group_routers(); ++j) {
        const bool same_chassis = i / shape.routers == j / shape.routers;
        const bool same_index = i % shape.routers == j % shape.routers;
        if (!same_chassis && !same_index) continue;
        cable(routers[first + i], routers[first + j], same_chassis ? shape.local : shape.across);
      }
    }
    for (std::uint32_t other = group + 1; other < shape.groups; ++other) {
      cable(routers[first + other % shape.group_routers()],
            routers[other * shape.group_routers() + group % shape.group_routers()], shape.global);
    }
  }
}

Result<NetworkPlan> Plan(const FabricParameters& parameters) {
  Shape shape{.groups = parameters.Count("groups", 1),
              .chassis = parameters.Count("chassis", 1),
              .routers = parameters.Count("routers", 1),
              .ends = parameters.Count("ends", 1),
              .global = parameters.Count("global", 1),
              .across = parameters.Count("across", 1),
              .local = parameters.Count("local", 1),
              .link = parameters.link(),
              .cable_latency = parameters.cable_latency(),
              .switch_latency = parameters.switch_latency()};
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
        "change the number of nodes, or of groups, routers or ends");
  }
  NetworkPlan plan;
  plan.summary = fmt::format("{} groups of {} routers ({} chassis), {} ends a router", shape.groups,
                             shape.group_routers(), shape.chassis, shape.ends);
  plan.nodes = nodes;
  plan.switches = routers;
  plan.destinations = routers;
  plan.cables = room + routers * (shape.routers + shape.chassis - 2) / 2 +
                static_cast<double>(shape.groups) * (shape.groups - 1) / 2;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    plan.unit_of_node.push_back(node * nics / (shape.ends * shape.group_routers()));
  }
  plan.build = [shape](FabricBuilder& builder, NetworkEnds ends) { Write(shape, builder, ends); };
  return plan;
}

FabricKey MultipleKey(const char* name, const char* summary) {
  return {name, FabricKey::Type::kCount, 1, 256, "1", summary};
}

}  // namespace

const Builder& DragonflyBuilder() {
  static const Builder builder = {
      {"dragonfly",
       "groups of routers joined all to all, every two groups by one link (SimGrid's DRAGONFLY)",
       {{"groups", FabricKey::Type::kCount, 1, kMaxRadix, "1", "groups"},
        {"chassis", FabricKey::Type::kCount, 1, 64, "1", "chassis of a group"},
        {"routers", FabricKey::Type::kCount, 1, kMaxRadix, "1", "routers of a chassis"},
        {"ends", FabricKey::Type::kCount, 1, kMaxRadix, "1", "NICs of a router"},
        MultipleKey("global", "rate between two groups, as a multiple of link"),
        MultipleKey("across", "rate between routers of two chassis, as a multiple of link"),
        MultipleKey("local", "rate between routers of a chassis, as a multiple of link"),
        LinkKey()}},
      Plan};
  return builder;
}

}  // namespace trunkline
