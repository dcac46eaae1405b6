#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/plural.h"
#include "fabric/builders/clos_plan.h"

namespace trunkline {
namespace {

// The scale unit of every node, from `unit`, `units` and the number of nodes.
struct Units {
  std::vector<std::uint32_t> of_node;
  std::uint32_t count = 0;
};

Units UnitsOf(std::uint32_t nodes, const std::vector<std::uint32_t>& sizes, std::uint32_t size) {
  Units units;
  for (const std::uint32_t own : sizes) {
    units.of_node.insert(units.of_node.end(), own, units.count++);
  }
  if (!sizes.empty()) return units;
  for (std::uint32_t node = 0; node < nodes; ++node) units.of_node.push_back(node / size);
  units.count = units.of_node.back() + 1;
  return units;
}

Result<NetworkPlan> PlanRails(const FabricParameters& parameters, std::uint32_t nodes,
                              const std::vector<std::uint32_t>& unit_sizes) {
  const std::uint32_t rails = parameters.nics();
  ClosRequest request = ReadClosRequest(parameters);
  request.leaf_ends =
      unit_sizes.empty() ? parameters.Count("unit", 0) : std::ranges::max(unit_sizes);
  const auto leaves_for = [&](std::uint32_t unit_nodes) {
    const std::size_t units =
        unit_sizes.empty() ? (nodes + unit_nodes - 1) / unit_nodes : unit_sizes.size();
    return static_cast<std::uint32_t>(units) * rails;
  };
  auto sized = ShapeClos(request, leaves_for);
  if (!sized) return RadixTooSmall(parameters, request);
  if (const auto named = CheckTiersNamed(parameters, request, sized->levels.size()); !named) {
    return std::unexpected(named.error());
  }
  const Units units = UnitsOf(nodes, unit_sizes, sized->leaf_ends);
  XgftPlan plan;
  plan.leaves = sized->leaves;
  plan.levels = std::move(sized->levels);
  for (const std::uint32_t unit : units.of_node) {
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      plan.seats.push_back({.leaf = unit * rails + rail});
    }
  }
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  const std::string size = unit_sizes.empty() ? fmt::format("of {}", sized->leaf_ends)
                                              : fmt::format("of {}", fmt::join(unit_sizes, ", "));
  const std::string summary =
      fmt::format("{} in scale units {} nodes, a leaf per rail and unit{}, {} of radix {}",
                  Plural(rails, "rail"), size,
                  request.ports > 1 ? fmt::format(" and NIC port ({})", request.ports) : "",
                  Plural(plan.levels.size(), "tier"), fmt::join(request.radix, ", "));
  NetworkPlan network = PlanXgft(std::move(plan), nodes, rails, summary);
  network.unit_of_node = units.of_node;
  return network;
}

Result<NetworkPlan> PlanRailOptimized(const FabricParameters& parameters) {
  const auto units = parameters.Counts("units");
  if (units.empty()) {
    if (parameters.nodes() > 0) return PlanRails(parameters, parameters.nodes(), units);
    return parameters.Fail("nodes", "TL1405", "rail-optimized needs a number of nodes",
                           "write how many there are");
  }
  if (parameters.Has("unit")) {
    return parameters.Fail("unit", "TL1405", "unit and units both say the size of scale units",
                           "give one of them");
  }
  const double nodes = std::accumulate(units.begin(), units.end(), 0.0);
  if (parameters.ends(1) * nodes > kMaxEnds) return TooManyEnds(parameters.ends(1) * nodes);
  if (parameters.nodes() > 0 && nodes != parameters.nodes()) {
    return parameters.Fail(
        "units", "TL1405",
        fmt::format("the scale units hold {:.0f} nodes, not {}", nodes, parameters.nodes()),
        fmt::format("write nodes={:.0f}, or leave it out", nodes));
  }
  return PlanRails(parameters, static_cast<std::uint32_t>(nodes), units);
}

}  // namespace

const Builder& RailOptimizedBuilder() {
  static const Builder builder = {
      {"rail-optimized",
       "NIC i of every node of a scale unit on leaf i of that unit, spines above, cores above "
       "those where the spines' radix is exceeded",
       {RadixKey(),
        OversubscriptionKey(),
        {"unit", FabricKey::Type::kCount, 1, kMaxRadix, "as many as a leaf has ports for",
         "nodes of a scale unit"},
        {"units", FabricKey::Type::kCounts, 1, kMaxRadix, "all of `unit`",
         "nodes of each scale unit, where they differ"},
        PortsKey(),
        BreakoutKey(),
        TiersKey(),
        LinkKey(),
        UplinkKey()}},
      PlanRailOptimized};
  return builder;
}

}  // namespace trunkline
