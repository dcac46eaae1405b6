#include <fmt/format.h>

#include "fabric/builders/clos_plan.h"

namespace trunkline {
namespace {

struct Sized {
  ClosShape leaf;
  std::vector<XgftLevel> levels;
  std::uint32_t leaves = 0;
};

std::optional<Sized> Size(const ClosRequest& request, std::uint32_t ends) {
  const auto leaf = ShapeLeaf(request);
  if (!leaf) return std::nullopt;
  const std::uint32_t leaves = (ends + leaf->leaf_ends - 1) / leaf->leaf_ends;
  auto levels = ShapeClos(request, *leaf, leaves);
  if (!levels) return std::nullopt;
  return Sized{*leaf, *std::move(levels), leaves};
}

Result<NetworkPlan> Plan(const FabricParameters& parameters) {
  const std::uint32_t nodes = parameters.nodes();
  const std::uint32_t nics = parameters.nics();
  const std::uint32_t planes = parameters.Count("planes", 1);
  if (nodes == 0) {
    return parameters.Fail("nodes", "TL1405", "clos needs a number of nodes",
                           "write nodes=64, say");
  }
  if (nics % planes != 0) {
    return parameters.Fail("planes", "TL1405",
                           fmt::format("{} NICs do not divide into {} planes", nics, planes),
                           "the planes must divide the NICs of a node");
  }
  ClosRequest request = ReadClosRequest(parameters);
  const std::uint32_t ends = nodes * (nics / planes);
  // The NICs of a node share a leaf where it has room for them.
  const auto fits = [&](ClosRequest candidate) {
    candidate.end_multiple = nics / planes;
    auto sized = Size(candidate, ends);
    candidate.end_multiple = 1;
    return sized ? sized : Size(candidate, ends);
  };
  auto sized = fits(request);
  if (!sized) {
    return RadixTooSmall(parameters, request,
                         [&](const ClosRequest& larger) { return fits(larger).has_value(); });
  }
  XgftPlan plan;
  plan.networks = planes;
  plan.leaves = sized->leaves;
  plan.levels = std::move(sized->levels);
  plan.seats = ConsecutiveSeats(nodes, nics, planes, sized->leaf.leaf_ends);
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  const std::string summary =
      fmt::format("{} tiers of radix {}: {} ends and {} uplinks a leaf{}", plan.levels.size(),
                  fmt::join(request.radix, ", "), sized->leaf.leaf_ends, sized->leaf.leaf_uplinks,
                  planes > 1 ? fmt::format(", in {} separate planes", planes) : "");
  return PlanXgft(std::move(plan), nodes, nics, summary);
}

}  // namespace

const Builder& ClosBuilder() {
  static const Builder builder = {
      {"clos",
       "two or three tiers from radix and oversubscription, nodes side by side on a leaf",
       {RadixKey(),
        OversubscriptionKey(),
        {"tiers", FabricKey::Type::kCount, 1, 3, "as few as suffice", "tiers of switches"},
        PlanesKey(),
        LinkKey(),
        UplinkKey()}},
      Plan};
  return builder;
}

}  // namespace trunkline
