#include <fmt/format.h>

#include "fabric/builders/clos_plan.h"

namespace trunkline {
namespace {

Result<NetworkPlan> Plan(const FabricParameters& parameters) {
  const std::uint32_t nodes = parameters.nodes();
  const std::uint32_t rails = parameters.nics();
  if (nodes == 0) {
    return parameters.Fail("nodes", "TL1405", "rail-optimized needs a number of nodes",
                           "write nodes=64, say");
  }
  ClosRequest request = ReadClosRequest(parameters);
  request.leaf_ends = parameters.Count("unit", 0);
  request.ports = parameters.Count("ports", 1);
  const auto leaves_for = [&](std::uint32_t unit_nodes) {
    return (nodes + unit_nodes - 1) / unit_nodes * rails;
  };
  auto sized = ShapeClos(request, leaves_for);
  if (!sized) {
    return RadixTooSmall(parameters, request, [&](const ClosRequest& larger) {
      return ShapeClos(larger, leaves_for).has_value();
    });
  }
  if (const auto named = CheckTiersNamed(parameters, request, sized->levels.size()); !named) {
    return std::unexpected(named.error());
  }
  const std::uint32_t unit = sized->leaf_ends;
  XgftPlan plan;
  plan.leaves = sized->leaves;
  plan.levels = std::move(sized->levels);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      plan.seats.push_back({.leaf = node / unit * rails + rail});
    }
  }
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  const std::string summary = fmt::format(
      "{} rails in scale units of {} nodes, a leaf per rail and unit{}, {} tiers of radix {}",
      rails, unit, request.ports > 1 ? fmt::format(" and NIC port ({})", request.ports) : "",
      plan.levels.size(), fmt::join(request.radix, ", "));
  return PlanXgft(std::move(plan), nodes, rails, summary);
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
        {"ports", FabricKey::Type::kCount, 1, 8, "1",
         "ports of a NIC, each to a leaf of its own plane (dual-ToR, dual-plane: 2)"},
        {"tiers", FabricKey::Type::kCount, 1, 3, "as few as suffice", "tiers of switches"},
        LinkKey(),
        UplinkKey()}},
      Plan};
  return builder;
}

}  // namespace trunkline
