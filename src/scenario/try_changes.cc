#include "scenario/try_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/analytic/analytic_time.h"
#include "engine/cuts.h"
#include "scenario/choose.h"
#include "scenario/prepare.h"
#include "scenario/resolved_graph.h"
#include "trunkline/engine/engine.h"
#include "trunkline/fabric/build.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

struct Change {
  std::string key;
  TrainingPlan plan;
};

void AddOverlaps(const TrainingPlan& plan, std::vector<Change>& out) {
  const auto add = [&](const char* name, bool TrainingPlan::* key, bool matters) {
    if (plan.*key || !matters) return;
    TrainingPlan changed = plan;
    changed.*key = true;
    out.push_back({fmt::format("workload.training.overlap.{}: true", name), changed});
  };
  add("tp", &TrainingPlan::overlap_tp, plan.tp > 1);
  add("grad_reduce", &TrainingPlan::overlap_grad_reduce, plan.dp > 1);
  add("param_gather", &TrainingPlan::overlap_param_gather, plan.dp > 1 && plan.zero > 0);
  add("p2p", &TrainingPlan::overlap_p2p, plan.pp > 1);
}

void AddMemory(const TrainingPlan& plan, std::vector<Change>& out) {
  constexpr std::pair<Recompute, const char*> kRecomputes[] = {
      {Recompute::kNone, "none"}, {Recompute::kSelective, "selective"}, {Recompute::kFull, "full"}};
  for (const auto& [recompute, name] : kRecomputes) {
    if (recompute == plan.recompute) continue;
    Change& change = out.emplace_back(fmt::format("workload.training.recompute: {}", name), plan);
    change.plan.recompute = recompute;
  }
  for (int zero = 0; plan.dp > 1 && zero <= 3; ++zero) {
    if (zero == plan.zero) continue;
    Change& change =
        out.emplace_back(fmt::format("workload.training.parallel.zero: {}", zero), plan);
    change.plan.zero = zero;
  }
  if (plan.tp > 1 && !plan.sequence_parallel) {
    Change& change = out.emplace_back("workload.training.parallel.sequence_parallel: true", plan);
    change.plan.sequence_parallel = true;
  }
}

void AddBatches(const TrainingPlan& plan, std::vector<Change>& out) {
  const auto add = [&](std::int64_t size) {
    Change& change = out.emplace_back(fmt::format("workload.training.micro_batch: {}", size), plan);
    change.plan.micro_batch = size;
  };
  add(2 * plan.micro_batch);
  if (plan.micro_batch % 2 == 0) add(plan.micro_batch / 2);
}

// A layer of the slowest stage goes to the fastest.
void AddLayout(const TrainingWorkload& training, std::vector<Change>& out) {
  const TrainingPlan& plan = training.plan;
  const std::vector<Time>& stages = training.stage_compute;
  if (plan.pp == 1 || plan.vp > 1 || stages.size() != static_cast<std::size_t>(plan.pp)) return;
  Change change{"", plan};
  std::vector<std::int64_t>& layout = change.plan.layout;
  if (layout.empty()) layout.assign(stages.size(), training.model.layers / plan.pp);
  if (layout.size() != stages.size()) return;
  --layout[static_cast<std::size_t>(std::ranges::max_element(stages) - stages.begin())];
  ++layout[static_cast<std::size_t>(std::ranges::min_element(stages) - stages.begin())];
  change.key =
      fmt::format("workload.training.parallel.layout: [{}]", fmt::join(change.plan.layout, ", "));
  out.push_back(std::move(change));
}

std::vector<Change> ChangesOf(const TrainingWorkload& training) {
  std::vector<Change> changes;
  AddOverlaps(training.plan, changes);
  AddMemory(training.plan, changes);
  AddBatches(training.plan, changes);
  AddLayout(training, changes);
  return changes;
}

bool Accepted(const ModelConfig& model, const TrainingPlan& plan) {
  return std::ranges::none_of(CheckPlan(model, plan, plan.ranks()), [](const Diagnostic& problem) {
    return problem.severity == Severity::kError;
  });
}

// Steps on the run's fabric, as the analytic engine takes them.
class Trials {
 public:
  Trials(const Scenario& scenario, const StopToken* stop, const RunResult& result)
      : scenario_(scenario), result_(result), cuts_(*result.router) {
    options_.seed = scenario.seed;
    options_.stop = stop;
  }

  // Nothing for a plan that is refused, exceeds the memory or does not run.
  [[nodiscard]] std::optional<TriedChange> Try(std::string key, const TrainingPlan& plan,
                                               const Placement& placement) const {
    const TrainingJob job{result_.training->model, plan};
    if (!Accepted(job.model, plan)) return std::nullopt;
    const Bytes memory = FullestGpu(job);
    if (memory > result_.memory_capacity) return std::nullopt;
    const auto time = TimeOf(job, placement);
    if (!time) return std::nullopt;
    return TriedChange{std::move(key), *time, memory};
  }

  [[nodiscard]] std::optional<Time> TimeOf(const TrainingJob& job,
                                           const Placement& placement) const {
    const auto step = PrepareStep(scenario_.cluster, job);
    if (!step) return std::nullopt;
    const TaskGraph& steps = *step->training.graph;
    const ChoiceInput inputs{*result_.router, result_.transport, placement,
                             scenario_.cluster.fabric->node};
    const auto chosen = ChooseAll(inputs, steps);
    if (!chosen) return std::nullopt;
    std::vector<CollectiveChoice> choices;
    for (const Chosen& one : *chosen) choices.push_back(one.choice);
    const ResolvedGraph graph(steps, std::move(choices));
    const auto time =
        AnalyticTime({*result_.router, result_.transport, graph, placement}, options_, cuts_);
    return time ? *time : std::nullopt;
  }

  // The run itself, which need not fit.
  [[nodiscard]] std::optional<TriedChange> AsItIs() const {
    const TrainingJob job{result_.training->model, result_.training->plan};
    const auto time = result_.engine == "analytic" ? result_.time : TimeOf(job, result_.placement);
    if (!time) return std::nullopt;
    return TriedChange{"", *time, result_.memory_per_gpu};
  }

 private:
  [[nodiscard]] static Bytes FullestGpu(const TrainingJob& job) {
    Bytes most;
    for (const StageMemory& stage : PlanMemory(job.model, job.plan)) {
      most = std::max(most, stage.total());
    }
    return most;
  }

  const Scenario& scenario_;
  const RunResult& result_;
  const FabricCuts cuts_;
  EngineOptions options_;
};

}  // namespace

void TryChanges(const Scenario& scenario, const StopToken* stop, RunResult& result) {
  const TrainingWorkload& training = *result.training;
  const Trials trials(scenario, stop, result);
  auto as_is = trials.AsItIs();
  if (!as_is) return;
  result.tried = {*std::move(as_is)};
  if (!result.iteration->serial) {
    TrainingPlan plan = training.plan;
    plan.overlap_tp = plan.overlap_grad_reduce = plan.overlap_param_gather = plan.overlap_p2p =
        false;
    const auto serial = trials.TimeOf({training.model, plan}, result.placement);
    if (serial && *serial >= result.time) result.iteration->serial = *serial;
  }
  for (Change& change : ChangesOf(training)) {
    auto tried = trials.Try(std::move(change.key), change.plan, result.placement);
    if (tried) result.tried.push_back(*std::move(tried));
  }
  // A list also says which endpoints are to be left alone.
  if (result.placement_kind == PlacementKind::kPacked ||
      result.placement_kind == PlacementKind::kListed) {
    return;
  }
  const auto packed = PackedPlacement(*result.fabric, result.placement.rank_count());
  if (!packed) return;
  auto tried = trials.Try("cluster.placement: packed", training.plan, *packed);
  if (tried) result.tried.push_back(*std::move(tried));
}

}  // namespace trunkline
