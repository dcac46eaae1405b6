#include "scenario/try_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

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
      : scenario_(scenario), stop_(stop), result_(result) {}

  [[nodiscard]] std::optional<TriedChange> Try(std::string key, const TrainingPlan& plan,
                                               const Placement& placement) const {
    const TrainingJob job{result_.training->model, plan};
    if (!Accepted(job.model, plan)) return std::nullopt;
    const auto step = PrepareStep(scenario_.cluster, job);
    if (!step) return std::nullopt;
    const TaskGraph& steps = *step->training.graph;
    const ChoiceInput inputs{*result_.router, result_.transport, placement,
                             scenario_.cluster.fabric->node.nics};
    const auto chosen = ChooseAll(inputs, steps);
    if (!chosen) return std::nullopt;
    std::vector<CollectiveChoice> choices;
    for (const Chosen& one : *chosen) choices.push_back(one.choice);
    const ResolvedGraph graph(steps, std::move(choices));
    EngineOptions options;
    options.seed = scenario_.seed;
    options.stop = stop_;
    const auto timeline =
        RunAnalytic({*result_.router, result_.transport, graph, placement}, options);
    if (!timeline || timeline->status != RunStatus::kFinished) return std::nullopt;
    Bytes memory;
    for (const StageMemory& stage : step->training.memory) {
      memory = std::max(memory, stage.total());
    }
    return TriedChange{std::move(key), timeline->end, memory, memory <= step->memory};
  }

 private:
  const Scenario& scenario_;
  const StopToken* stop_;
  const RunResult& result_;
};

}  // namespace

void TryChanges(const Scenario& scenario, const StopToken* stop, RunResult& result) {
  const TrainingWorkload& training = *result.training;
  const Trials trials(scenario, stop, result);
  auto as_is = trials.Try("", training.plan, result.placement);
  if (!as_is) return;
  result.tried = {*std::move(as_is)};
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
