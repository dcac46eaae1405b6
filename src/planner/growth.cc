#include "trunkline/planner/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "planner/time_work.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/catalog.h"

namespace trunkline {
namespace {

constexpr double kStep = 1.189207115002721;  // four to a doubling

class Grower {
 public:
  Grower(const FabricSpec& spec, const TrialOptions& options) : spec_(spec), options_(options) {
    options_.engine = EngineKind::kAnalytic;
  }

  // The point of `nodes`, built once.
  Result<GrowthPoint> At(std::uint32_t nodes) {
    if (const auto known = points_.find(nodes); known != points_.end()) return known->second;
    const auto built = Build(nodes);
    if (!built) return std::unexpected(built.error());
    const FabricCounts counts = CountParts(built->fabric);
    const FabricCost cost = CostFabric(*built, options_.prices, {});
    GrowthPoint point{.nodes = built->fabric.node_count(),
                      .gpus = cost.ends,
                      .tiers = static_cast<std::uint32_t>(counts.tiers.size()),
                      .cables = counts.host_cables + counts.switch_cables,
                      .price = cost.price(),
                      .watts = cost.watts,
                      .complete = cost.complete()};
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

  // In order, with the work done on each.
  [[nodiscard]] std::vector<GrowthPoint> TakeKept() {
    std::ranges::sort(kept_);
    kept_.erase(std::ranges::unique(kept_).begin(), kept_.end());
    std::vector<GrowthPoint> points;
    for (const std::uint32_t nodes : kept_) {
      points.push_back(points_.at(nodes));
      AddTimes(points.back());
    }
    return points;
  }

 private:
  [[nodiscard]] Result<BuiltFabric> Build(std::uint32_t nodes) const {
    FabricSpec spec = spec_;
    spec.nodes = nodes;
    return BuildFabric(spec);
  }

  void AddTimes(GrowthPoint& point) const {
    auto built = Build(point.nodes);
    if (!built) {
      point.troubles.push_back(built.error().front().message);
      return;
    }
    TrialOptions options = options_;
    const auto step = StepOf(point);
    options.step = step ? &*step : nullptr;
    FabricTrial trial{.name = spec_.kind,
                      .built = std::make_shared<const BuiltFabric>(*std::move(built)),
                      .routing = spec_.routing.value_or(RoutingPolicy::kAdaptive),
                      .analysis = {},
                      .cost = {},
                      .all_reduce = {},
                      .all_to_all = {},
                      .step = {},
                      .troubles = {}};
    TimeWork(options, trial);
    const auto time = [](const std::optional<TrialTime>& taken) {
      return taken ? std::optional(taken->time) : std::nullopt;
    };
    point.all_reduce = time(trial.all_reduce);
    point.all_to_all = time(trial.all_to_all);
    point.step = time(trial.step);
    point.troubles.insert(point.troubles.end(), trial.troubles.begin(), trial.troubles.end());
  }

  // The training step on all GPUs of the point: each replica does what it did. None, and a trouble,
  // where they do not divide.
  [[nodiscard]] std::optional<Scenario> StepOf(GrowthPoint& point) const {
    if (options_.step == nullptr) return std::nullopt;
    Scenario step = *options_.step;
    TrainingPlan& plan = std::get<TrainingJob>(step.workload).plan;
    const std::int64_t replica = plan.ranks() / plan.dp;
    const std::int64_t sequences = plan.global_batch / plan.dp;
    const auto gpus = static_cast<std::int64_t>(point.gpus);
    if (gpus % replica != 0) {
      point.troubles.push_back(
          fmt::format("step: a replica takes {} GPUs, and they are no multiple of that", replica));
      return std::nullopt;
    }
    plan.dp = gpus / replica;
    plan.global_batch = sequences * plan.dp;
    const Diagnostics problems = CheckPlan(std::get<TrainingJob>(step.workload).model, plan, gpus);
    const auto problem = std::ranges::find(problems, Severity::kError,
                                           [](const Diagnostic& d) { return d.severity; });
    if (problem != problems.end()) {
      point.troubles.push_back("step: " + problem->message);
      return std::nullopt;
    }
    step.engine = EngineKind::kAnalytic;
    step.window.reset();
    step.cluster.placement = {};
    return step;
  }

  FabricSpec spec_;
  TrialOptions options_;
  std::map<std::uint32_t, GrowthPoint> points_;
  std::vector<std::uint32_t> kept_;
};

}  // namespace

Result<Growth> GrowFabric(const FabricSpec& spec, const std::string& name,
                          const TrialOptions& options, std::uint64_t most_gpus) {
  const auto node = FindNodeTemplate(spec.node.empty() ? "host" : spec.node);
  if (!node) return std::unexpected(node.error());
  const std::uint64_t most_nodes =
      std::min<std::uint64_t>(most_gpus / std::max(1U, node->gpus), UINT32_MAX);
  if (most_nodes < 2) {
    return Error("TL1433",
                 node->gpus > 0
                     ? fmt::format("{} GPUs are fewer than two {} hold", most_gpus, node->name)
                     : fmt::format("{} hosts are fewer than two", most_gpus),
                 fmt::format("grow it to {} or more", 2 * std::max(1U, node->gpus)));
  }
  if (options.step != nullptr && !std::holds_alternative<TrainingJob>(options.step->workload)) {
    return Error(
        "TL1433",
        fmt::format("{} is no training step, which could grow with the fabric", options.step->name),
        "a scenario with workload.training, or none");
  }
  Growth growth{.name = name,
                .prices = options.prices.name,
                .currency = options.prices.currency,
                .points = {},
                .stopped_by = {},
                .size = options.size,
                .step = options.step != nullptr ? options.step->name : "",
                .of_gpus = node->gpus > 0};
  Grower grower(spec, options);
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
