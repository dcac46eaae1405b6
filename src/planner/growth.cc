#include "trunkline/planner/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/catalog.h"

namespace trunkline {
namespace {

constexpr double kStep = 1.189207115002721;  // four to a doubling

class Grower {
 public:
  Grower(const FabricSpec& spec, const PriceList& prices) : spec_(spec), prices_(prices) {}

  // The point of `nodes`, built once.
  Result<GrowthPoint> At(std::uint32_t nodes) {
    if (const auto known = points_.find(nodes); known != points_.end()) return known->second;
    FabricSpec spec = spec_;
    spec.nodes = nodes;
    const auto built = BuildFabric(spec);
    if (!built) return std::unexpected(built.error());
    const FabricCounts counts = CountParts(built->fabric);
    const FabricCost cost = CostFabric(*built, prices_, Rate());
    GrowthPoint point{.nodes = built->fabric.node_count(),
                      .gpus = cost.ends,
                      .tiers = static_cast<std::uint32_t>(counts.tiers.size()),
                      .cables = counts.host_cables + counts.switch_cables,
                      .price = cost.price(),
                      .watts = cost.watts,
                      .complete = cost.unpriced.empty()};
    for (const TierSummary& tier : counts.tiers) point.switches += tier.switches;
    return points_.emplace(nodes, point).first->second;
  }

  // The last number of nodes that as many tiers hold, and the first that takes more.
  void FindBoundary(std::uint32_t below, std::uint32_t above) {
    const auto first = At(below);
    while (first && above - below > 1) {
      const std::uint32_t middle = below + (above - below) / 2;
      const auto point = At(middle);
      if (!point) return;
      (point->tiers > first->tiers ? above : below) = middle;
    }
    kept_.insert(kept_.end(), {below, above});
  }

  void Keep(std::uint32_t nodes) { kept_.push_back(nodes); }
  [[nodiscard]] std::vector<GrowthPoint> TakeKept() {
    std::ranges::sort(kept_);
    kept_.erase(std::ranges::unique(kept_).begin(), kept_.end());
    std::vector<GrowthPoint> points;
    for (const std::uint32_t nodes : kept_) points.push_back(points_.at(nodes));
    return points;
  }

 private:
  FabricSpec spec_;
  const PriceList& prices_;
  std::map<std::uint32_t, GrowthPoint> points_;
  std::vector<std::uint32_t> kept_;
};

}  // namespace

Result<Growth> GrowFabric(const FabricSpec& spec, const std::string& name, const PriceList& prices,
                          std::uint64_t most_gpus) {
  const auto node = FindNodeTemplate(spec.node.empty() ? "host" : spec.node);
  if (!node) return std::unexpected(node.error());
  const std::uint64_t most_nodes =
      std::min<std::uint64_t>(most_gpus / std::max(1U, node->gpus), UINT32_MAX);
  if (most_nodes < 2) {
    return Error("TL1433", fmt::format("{} GPUs are fewer than two {} hold", most_gpus, node->name),
                 fmt::format("grow it to {} or more", 2 * std::max(1U, node->gpus)));
  }
  Growth growth{.name = name,
                .prices = prices.name,
                .currency = prices.currency,
                .points = {},
                .stopped_by = {}};
  Grower grower(spec, prices);
  std::optional<GrowthPoint> before;
  for (double exact = 2;; exact *= kStep) {
    const auto nodes =
        static_cast<std::uint32_t>(std::min(std::round(exact), static_cast<double>(most_nodes)));
    const auto point = grower.At(nodes);
    if (!point) {
      if (!before) return std::unexpected(point.error());
      growth.stopped_by = point.error().front().message;
      break;
    }
    grower.Keep(nodes);
    if (before && point->tiers > before->tiers) grower.FindBoundary(before->nodes, nodes);
    before = *point;
    if (nodes == most_nodes) break;
  }
  growth.points = grower.TakeKept();
  return growth;
}

}  // namespace trunkline
