#include <fmt/format.h>

#include "base/plural.h"
#include "fabric/builders/clos_plan.h"

namespace trunkline {

Result<NetworkPlan> PlanClos(const FabricParameters& parameters, const ClosRequest& request,
                             std::uint32_t planes) {
  const std::uint32_t nodes = parameters.nodes();
  const std::uint32_t nics = parameters.nics();
  const std::uint32_t nics_per_plane = nics / planes;
  const auto leaves_for = [&](std::uint32_t leaf_ends) {
    return (nodes * nics_per_plane + leaf_ends - 1) / leaf_ends;
  };
  // The NICs of a node share a leaf where it has room for them.
  ClosRequest together = request;
  together.end_multiple = nics_per_plane;
  auto sized = ShapeClos(together, leaves_for);
  if (!sized) sized = ShapeClos(request, leaves_for);
  if (!sized) return RadixTooSmall(parameters, request);
  if (const auto named = CheckTiersNamed(parameters, request, sized->levels.size()); !named) {
    return std::unexpected(named.error());
  }
  XgftPlan plan;
  plan.networks = planes;
  plan.leaves = sized->leaves;
  plan.levels = std::move(sized->levels);
  plan.seats = ConsecutiveSeats(nodes, nics, planes, sized->leaf_ends);
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  std::string summary =
      plan.levels.size() == 1
          ? fmt::format("one leaf of radix {}", request.radix.front())
          : fmt::format("{} of radix {}: {} and {} a leaf", Plural(plan.levels.size(), "tier"),
                        fmt::join(request.radix, ", "), Plural(sized->leaf_ends, "end"),
                        Plural(sized->leaf_uplinks, "uplink"));
  if (planes > 1) summary += fmt::format(", in each of {} separate planes", planes);
  if (request.ports > 1) {
    summary += fmt::format(", {} for every port of a NIC", planes > 1 ? "once more" : "once");
  }
  return PlanXgft(std::move(plan), nodes, nics, summary);
}

namespace {

Result<NetworkPlan> Plan(const FabricParameters& parameters) {
  if (parameters.nodes() == 0) {
    return parameters.Fail("nodes", "TL1405", "clos needs a number of nodes",
                           "write how many there are");
  }
  const auto planes = parameters.Planes();
  if (!planes) return std::unexpected(planes.error());
  return PlanClos(parameters, ReadClosRequest(parameters), *planes);
}

}  // namespace

const Builder& ClosBuilder() {
  static const Builder builder = {
      {"clos",
       "one to three tiers from radix and oversubscription, nodes side by side on a leaf",
       {RadixKey(), OversubscriptionKey(), BreakoutKey(), TiersKey(), PlanesKey(), PortsKey(),
        LinkKey(), UplinkKey()}},
      Plan};
  return builder;
}

}  // namespace trunkline
