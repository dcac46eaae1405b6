#include "scenario/try_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/side_by_side.h"
#include "engine/analytic/analytic_time.h"
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
  bool of_pipeline = false;
};

// A key of `overlap` that something reads at the plan's extents (docs/training.md).
struct OverlapKey {
  const char* name;
  bool TrainingPlan::* on;
};

std::vector<OverlapKey> OverlapKeys(const TrainingPlan& plan) {
  std::vector<OverlapKey> keys;
  if (plan.tp > 1) keys.push_back({"tp", &TrainingPlan::overlap_tp});
  if (plan.dp > 1) keys.push_back({"grad_reduce", &TrainingPlan::overlap_grad_reduce});
  if (plan.dp > 1 && (plan.zero == 1 || plan.zero == 2)) {
    keys.push_back({"param_gather", &TrainingPlan::overlap_param_gather});
  }
  if (plan.pp > 1) keys.push_back({"p2p", &TrainingPlan::overlap_p2p});
  return keys;
}

bool OverlapsAnything(const TrainingPlan& plan) {
  return std::ranges::any_of(OverlapKeys(plan),
                             [&](const OverlapKey& key) { return plan.*key.on; });
}

// The whole mapping, which means the same whatever the scenario writes for `overlap`.
std::string OverlapText(const TrainingPlan& plan) {
  std::vector<std::string> entries;
  for (const OverlapKey& key : OverlapKeys(plan)) {
    entries.push_back(fmt::format("{}: {}", key.name, plan.*key.on));
  }
  return fmt::format("workload.training.overlap: {{{}}}", fmt::join(entries, ", "));
}

// Each key the other way. Nothing overlapped at all is the serial plan.
void AddOverlaps(const TrainingPlan& plan, std::vector<Change>& out) {
  for (const OverlapKey& key : OverlapKeys(plan)) {
    TrainingPlan changed = plan;
    changed.*key.on = !(plan.*key.on);
    if (OverlapsAnything(changed)) out.push_back({OverlapText(changed), changed});
  }
}

// Where the plan fits, what takes less memory and more time is no change to try.
void AddMemory(const TrainingPlan& plan, bool fits, std::vector<Change>& out) {
  constexpr std::pair<Recompute, const char*> kRecomputes[] = {
      {Recompute::kNone, "none"}, {Recompute::kSelective, "selective"}, {Recompute::kFull, "full"}};
  for (const auto& [recompute, name] : kRecomputes) {
    if (recompute == plan.recompute || (fits && recompute > plan.recompute)) continue;
    Change& change = out.emplace_back(fmt::format("workload.training.recompute: {}", name), plan);
    change.plan.recompute = recompute;
  }
  for (int zero = 0; plan.dp > 1 && zero <= 3; ++zero) {
    if (zero == plan.zero || (fits && zero > std::max(plan.zero, 1))) continue;
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

// More chunks a stage are hardly trained with.
constexpr std::int64_t kMostChunks = 8;

// The whole mapping, which means the same whatever the scenario writes for `parallel`. REQUIRES: no
// layout.
std::string ParallelText(const TrainingPlan& plan) {
  static constexpr const char* kSchedules[] = {"gpipe", "1f1b", "interleaved"};
  const TrainingPlan defaults;
  std::string text = fmt::format("workload.training.parallel: {{tp: {}, pp: {}, dp: {}", plan.tp,
                                 plan.pp, plan.dp);
  const auto add = [&](const char* key, const auto& value, const auto& usual) {
    if (value != usual) text += fmt::format(", {}: {}", key, value);
  };
  add("cp", plan.cp, defaults.cp);
  add("schedule", std::string_view(kSchedules[std::to_underlying(plan.schedule)]), "1f1b");
  add("vp", plan.vp, defaults.vp);
  add("zero", plan.zero, defaults.zero);
  add("sequence_parallel", plan.sequence_parallel, defaults.sequence_parallel);
  add("order", plan.order, defaults.order);
  if (plan.fsdp_shard_size != defaults.fsdp_shard_size) {
    text += fmt::format(", fsdp: {{shard_size: {}}}", plan.fsdp_shard_size);
  }
  return text + "}";
}

// More micro-batches, chunks that are interleaved, and half the stages.
void AddPipelines(const TrainingWorkload& training, std::vector<Change>& out) {
  const TrainingPlan& plan = training.plan;
  if (plan.pp == 1) return;
  Change& larger = out.emplace_back(
      fmt::format("workload.training.global_batch: {}", 2 * plan.global_batch), plan, true);
  larger.plan.global_batch *= 2;
  if (!plan.layout.empty()) return;
  const auto add = [&](TrainingPlan changed) {
    const bool interleaves = changed.pp > 1 && changed.vp > 1;
    if (!interleaves) changed.vp = 1;
    if (interleaves) {
      changed.schedule = PipelineSchedule::kInterleaved;
    } else if (plan.schedule == PipelineSchedule::kInterleaved) {
      changed.schedule = PipelineSchedule::kOneFOneB;
    }
    out.push_back({ParallelText(changed), changed, true});
  };
  for (std::int64_t chunks = 2; chunks <= kMostChunks; ++chunks) {
    if (chunks == plan.vp || training.model.layers % (plan.pp * chunks) != 0) continue;
    TrainingPlan changed = plan;
    changed.vp = chunks;
    add(changed);
  }
  if (plan.pp % 2 != 0) return;
  for (std::int64_t TrainingPlan::* const other : {&TrainingPlan::dp, &TrainingPlan::tp}) {
    TrainingPlan changed = plan;
    changed.pp /= 2;
    changed.*other *= 2;
    add(changed);
  }
}

std::vector<Change> ChangesOf(const TrainingWorkload& training, bool fits) {
  std::vector<Change> changes;
  AddOverlaps(training.plan, changes);
  AddMemory(training.plan, fits, changes);
  AddBatches(training.plan, changes);
  AddLayout(training, changes);
  AddPipelines(training, changes);
  return changes;
}

bool Accepted(const ModelConfig& model, const TrainingPlan& plan) {
  return std::ranges::none_of(CheckPlan(model, plan, plan.ranks()), [](const Diagnostic& problem) {
    return problem.severity == Severity::kError;
  });
}

// Steps on the run's fabric, as the analytic engine takes them; side by side too.
class Trials {
 public:
  Trials(const Scenario& scenario, const StopToken* stop, FabricCosts& costs,
         const RunResult& result)
      : scenario_(scenario), result_(result), costs_(costs) {
    options_.seed = scenario.seed;
    options_.stop = stop;
  }

  [[nodiscard]] ChoiceInput At(const Placement& placement) const {
    return {*result_.router, scenario_.cluster.transport, placement,
            scenario_.cluster.fabric->node};
  }

  [[nodiscard]] bool Fits(const TrainingPlan& plan) const {
    return FullestGpu({result_.training->model, plan}) <= result_.memory_capacity;
  }

  // Nothing for a plan that is refused, exceeds the memory or does not run.
  [[nodiscard]] std::optional<TriedChange> Try(const Change& change, Chooser& chooser) const {
    const TrainingJob job{result_.training->model, change.plan};
    if (!Accepted(job.model, job.plan)) return std::nullopt;
    const Bytes memory = FullestGpu(job);
    if (memory > result_.memory_capacity) return std::nullopt;
    const auto time = TimeOf(job.plan, chooser);
    if (!time) return std::nullopt;
    return TriedChange{.change = change.key,
                       .time = *time,
                       .memory = memory,
                       .batches = job.plan.global_batch / result_.training->plan.global_batch,
                       .of_pipeline = change.of_pipeline};
  }

  [[nodiscard]] std::optional<Time> TimeOf(const TrainingPlan& plan, Chooser& chooser) const {
    if (options_.stop != nullptr && options_.stop->stop_requested()) return std::nullopt;
    const auto step = PrepareStep(scenario_.cluster, {result_.training->model, plan});
    if (!step) return std::nullopt;
    const TaskGraph& steps = *step->training.graph;
    const auto chosen = chooser.ChooseAll(steps);
    if (!chosen) return std::nullopt;
    std::vector<CollectiveChoice> choices;
    for (const Chosen& one : *chosen) choices.push_back(one.choice);
    const ResolvedGraph graph(steps, std::move(choices));
    const auto time =
        AnalyticTime({*result_.router, scenario_.cluster.transport, graph, chooser.placement()},
                     options_, costs_);
    return time ? *time : std::nullopt;
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
  FabricCosts& costs_;
  EngineOptions options_;
};

// A list also says which endpoints are to be left alone.
std::optional<Placement> Packed(const RunResult& result) {
  if (result.placement_kind == PlacementKind::kPacked ||
      result.placement_kind == PlacementKind::kListed) {
    return std::nullopt;
  }
  auto packed = PackedPlacement(*result.fabric, result.placement.rank_count());
  if (!packed) return std::nullopt;
  return *std::move(packed);
}

TrainingPlan WithoutOverlap(TrainingPlan plan) {
  plan.overlap_tp = plan.overlap_grad_reduce = plan.overlap_param_gather = plan.overlap_p2p = false;
  return plan;
}

}  // namespace

StepTrials TryBeside(const std::function<bool()>& run, const Scenario& scenario,
                     const StopToken* stop, FabricCosts& costs, Chooser& chooser,
                     const RunResult& result) {
  const TrainingPlan& plan = result.training->plan;
  const Trials trials(scenario, stop, costs, result);
  const std::vector<Change> changes = ChangesOf(*result.training, trials.Fits(plan));
  const std::optional<Placement> packed = Packed(result);
  std::vector<std::optional<TriedChange>> tried(changes.size() + 1);  // packed last
  StepTrials found;
  std::atomic<bool> wanted = true;
  const auto try_one = [&](std::size_t i) {
    if (!wanted) return;
    if (i < changes.size()) {
      tried[i] = trials.Try(changes[i], chooser);
    } else if (i > changes.size() + 1) {
      found.as_is = trials.TimeOf(plan, chooser);  // which need not fit
    } else if (i > changes.size()) {
      if (OverlapsAnything(plan))
        found.without_overlap = trials.TimeOf(WithoutOverlap(plan), chooser);
    } else if (packed) {
      Chooser elsewhere(trials.At(*packed));
      tried[i] = trials.Try({"cluster.placement: packed", plan}, elsewhere);
    }
  };
  const std::size_t as_is = result.engine == "analytic" ? 0 : 1;
  Beside([&] { wanted = run(); }, tried.size() + 1 + as_is, try_one);
  for (std::optional<TriedChange>& change : tried) {
    if (change) found.changes.push_back(*std::move(change));
  }
  return found;
}

void AddTrials(StepTrials trials, RunResult& result) {
  // The run itself, by that engine.
  const std::optional<Time> as_is =
      result.engine == "analytic" ? std::optional(result.time) : trials.as_is;
  if (!as_is) return;
  const bool overlaps = OverlapsAnything(result.training->plan);
  const std::optional<Time> serial = overlaps ? trials.without_overlap : as_is;
  IterationResult& iteration = *result.iteration;
  iteration.without_overlap = serial;
  if (!iteration.serial && serial >= result.time) iteration.serial = serial;
  result.tried = {TriedChange{"", *as_is, result.memory_per_gpu}};
  std::ranges::move(trials.changes, std::back_inserter(result.tried));
  if (overlaps && serial && result.fits_memory) {  // overlap takes no memory
    result.tried.push_back({"workload.training.overlap: false", *serial, result.memory_per_gpu});
  }
}

}  // namespace trunkline
