#include "trunkline/scenario/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <ctime>
#include <optional>

#include "base/side_by_side.h"
#include "engine/analytic/analytic_time.h"
#include "fabric/trunks.h"
#include "scenario/choose.h"
#include "scenario/closed_form.h"
#include "scenario/deadlock_check.h"
#include "scenario/describe_faults.h"
#include "scenario/one_node.h"
#include "scenario/packet_cost.h"
#include "scenario/prepare.h"
#include "scenario/repeat.h"
#include "scenario/resolved_graph.h"
#include "scenario/run_jobs.h"
#include "scenario/run_traffic.h"
#include "scenario/step_bound.h"
#include "scenario/summary.h"
#include "scenario/try_changes.h"
#include "scenario/window.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/traffic_result.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// One run in the making.
class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario), options_(options) {}

  Result<RunResult> Execute() {
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = CpuSeconds();
    Prepare();
    const auto done =
        scenario_.jobs.empty()
            ? std::visit([this](const auto& workload) { return RunWorkload(workload); },
                         scenario_.workload)
            : RunAllJobs();
    if (!done) return std::unexpected(done.error());
    AssumeOfOneNode(scenario_.cluster, result_);
    if (result_.window && result_.status == RunStatus::kFinished) {
      result_.status = result_.window->status;
    }
    result_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    result_.cpu_s = CpuSeconds() - cpu;
    return std::move(result_);
  }

 private:
  // Of the result's fabric, in closed form.
  [[nodiscard]] FabricCosts& costs() {
    if (!costs_) {
      costs_ = std::make_unique<FabricCosts>(*router_, scenario_.cluster.transport);
    }
    return *costs_;
  }

  void Prepare() {
    const ClusterSpec& cluster = scenario_.cluster;
    result_.title = scenario_.name;
    result_.engine = ToString(scenario_.engine);
    result_.seed = scenario_.seed;
    if (scenario_.uses_threads()) result_.threads = static_cast<int>(options_.threads);
    result_.assumptions = scenario_.assumptions;
    result_.warnings = scenario_.warnings;
    result_.fabric = std::shared_ptr<const Fabric>(cluster.fabric, &cluster.fabric->fabric);
    result_.transport = cluster.transport;
    result_.transport_name = cluster.transport_name;
    const BuiltFabric& built = *cluster.fabric;
    result_.cluster_summary = fmt::format(
        "{} x {}, {}: {}; {} transport, {} routing", built.fabric.node_count(), built.node.name,
        built.kind, built.summary, cluster.transport_name, ToString(cluster.routing));
    AddFaults();
    RouterOptions routing;
    routing.policy = cluster.routing;
    routing.parameters = cluster.routing_parameters;
    routing.gpudirect = cluster.gpudirect;
    routing.seed = scenario_.seed;
    routing.payload_bytes = cluster.transport.mtu.count();
    routing.wire_bytes = (cluster.transport.mtu + cluster.transport.packet_overhead).count();
    LayFoundations(routing);
    CheckDeadlock(scenario_, result_);
    const bool divided =
        scenario_.jobs.empty() && std::holds_alternative<TrafficInput>(scenario_.workload);
    if (scenario_.engine != EngineKind::kPacket && !divided) WarnOfMinimalPaths();
    if (scenario_.engine != EngineKind::kPacket && cluster.routing == RoutingPolicy::kAdaptive &&
        !HasAlikeTrunks()) {
      result_.assumptions.push_back(
          "routing: where cables are missing or slow, adaptive flows share what leads to each "
          "destination at best, within what any one or two leaves may have together; switches see "
          "their own queues alone, and packets may take longer; engine: packet follows each");
    }
  }

  // The router; of a training step also its programs and the cuts of the fabric, side by side: none
  // needs another.
  void LayFoundations(const RouterOptions& routing) {
    const Fabric& fabric = *result_.fabric;
    const auto* training =
        scenario_.jobs.empty() ? std::get_if<TrainingJob>(&scenario_.workload) : nullptr;
    std::optional<FabricLevels> blocks;
    SideBySide(training == nullptr ? 1 : 3, [&](std::size_t i) {
      if (i == 0) router_ = std::make_shared<const Router>(fabric, routing);
      if (i == 1) blocks.emplace(fabric, routing);
      if (i == 2) step_ = PrepareStep(scenario_.cluster, *training);
    });
    result_.router = router_;
    if (blocks) {
      costs_ =
          std::make_unique<FabricCosts>(*router_, scenario_.cluster.transport, *std::move(blocks));
    }
  }

  [[nodiscard]] bool HasAlikeTrunks() {
    // The closed forms have looked at all cables already.
    if (scenario_.engine == EngineKind::kAnalytic && costs().alike()) return true;
    return TrunksAreWhole(*result_.fabric) && TrunksAreEven(*result_.fabric);
  }

  // The first few beside the cluster, all of them among what is assumed.
  void AddFaults() {
    constexpr std::size_t kNamed = 3;
    const std::vector<std::string> faults = DescribeFaults(scenario_);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      result_.assumptions.push_back("fault: " + faults[i]);
      if (i >= kNamed) continue;
      result_.cluster_summary += fmt::format("{} {}", i == 0 ? "; faults:" : ",", faults[i]);
    }
    if (faults.size() > kNamed) {
      result_.cluster_summary += fmt::format(" and {} more", faults.size() - kNamed);
    }
  }

  void WarnOfMinimalPaths() {
    if (!JudgesByQueues(scenario_.cluster.routing)) return;
    result_.warnings.push_back(Warning(
        "TL1416",
        fmt::format(
            "{} routing leaves minimal paths where queues say so, and the {} engine has none for "
            "collectives, steps and jobs: all of it takes minimal paths",
            ToString(scenario_.cluster.routing), ToString(scenario_.engine)),
        "engine: packet; or routing: valiant for what it takes at worst"));
  }

  void WarnOfClosedForm(const CollectiveChoice& choice, std::uint32_t ranks) {
    if (scenario_.engine != EngineKind::kAnalytic || warned_of_closed_form_) return;
    const char* missed =
        MissedByClosedForm(choice, ranks, result_.fragmentation.nodes,
                           result_.placement_kind == PlacementKind::kPacked, costs().cuts());
    if (missed == nullptr) return;
    warned_of_closed_form_ = true;
    result_.warnings.push_back(Warning("TL1622",
                                       fmt::format("the analytic engine may miss {}", missed),
                                       "run it with engine: flow, which shares every link"));
  }

  Result<void> Place(std::size_t ranks) {
    const ClusterSpec& cluster = scenario_.cluster;
    auto placement = PlaceRanks(*result_.fabric, cluster.fabric->unit_of_node, cluster.placement,
                                ranks, scenario_.seed);
    if (!placement) return std::unexpected(placement.error());
    result_.placement = std::move(*placement);
    result_.placement_kind = cluster.placement.kind;
    result_.fragmentation =
        MeasureFragmentation(*result_.router, cluster.fabric->unit_of_node, result_.placement);
    return {};
  }

  [[nodiscard]] ChoiceInput Inputs() const {
    return {*result_.router, result_.transport, result_.placement, scenario_.cluster.fabric->node};
  }

  Result<void> Simulate(const TaskGraph& graph) {
    const EngineOptions options = EngineOptionsFor(scenario_, options_, graph);
    const EngineInput input{*router_, scenario_.cluster.transport, graph, result_.placement};
    if (scenario_.engine == EngineKind::kPacket) return SimulatePackets(input, options);
    if (scenario_.window) return SimulateWindow(input, options);
    auto timeline = scenario_.engine == EngineKind::kFlow ? RunFlow(input, options)
                                                          : RunAnalytic(input, options, costs());
    if (!timeline) return std::unexpected(timeline.error());
    SummariseTimeline(std::move(*timeline), options_.all_links, result_);
    return {};
  }

  void TakeSamples(PacketReport& report) {
    if (!report.samples) return;
    result_.samples = std::make_shared<const PacketSamples>(*std::move(report.samples));
    report.samples.reset();
  }

  Result<void> SimulatePackets(const EngineInput& input, const EngineOptions& options) {
    const ClusterSpec& cluster = scenario_.cluster;
    if (options.progress != nullptr) {
      const double hops = ExpectedHops(input, cluster.packet_transport, options.stop);
      // Runs that are over at once need no announcement: a table has many.
      if (hops > kPacketHopsPerSecond) options.progress->Note(PacketCost(hops, options_.repeat));
    }
    PacketInput packets = PacketsFor(scenario_, options_, input.router);
    packets.faults = cluster.timed_faults;
    packets.rerouting = cluster.rerouting;
    auto run = RunPacket(input, packets, options);
    if (!run) return std::unexpected(run.error());
    if (result_.packets == nullptr) {  // of a table's runs, the first says so
      result_.warnings.insert(result_.warnings.end(), run->warnings.begin(), run->warnings.end());
    }
    SummariseTimeline(std::move(run->timeline), options_.all_links, result_);
    AddPacketFigures(run->packets, result_);
    TakeSamples(run->packets);
    result_.packets = std::make_shared<const PacketReport>(std::move(run->packets));
    return {};
  }

  Result<void> SimulateWindow(const EngineInput& input, const EngineOptions& options) {
    const ClusterSpec& cluster = scenario_.cluster;
    auto window = ResolveWindow(*scenario_.window, input.graph, result_.training.get());
    if (!window) return std::unexpected(window.error());
    window->announce = [&](std::span<const LinkUse> links) {
      const double hops = HopsOf(links, *result_.fabric, cluster.packet_transport);
      if (options.progress != nullptr && hops > kPacketHopsPerSecond) {
        options.progress->Note("the window: " + PacketCost(hops, options_.repeat));
      }
    };
    auto run =
        RunPacketWindow(input, PacketsFor(scenario_, options_, input.router), *window, options);
    if (!run) return std::unexpected(PlaceAt(*scenario_.window, run.error()));
    SummariseTimeline(std::move(run->timeline), options_.all_links, result_);
    if (!run->window) return {};
    result_.events += run->window->packets.events;
    result_.warnings.insert(result_.warnings.end(), run->window->warnings.begin(),
                            run->window->warnings.end());
    TakeSamples(run->window->packets);
    result_.window = std::make_shared<const WindowReport>(*std::move(run->window));
    return {};
  }

  // The closed forms follow one rank of each program, whose collectives take as long as the slowest
  // group of their kind. No rank's own groups need all be among those. Whether the result is below
  // the bound of another rank for that.
  bool WarnOfUnlikeGroups() {
    constexpr double kAlike = 1.05;
    if (scenario_.engine != EngineKind::kAnalytic || result_.status != RunStatus::kFinished) {
      return false;
    }
    const bool too_fast = result_.time < result_.bound;
    std::vector<std::string> why;
    if (costs().most_unlike() > kAlike) {
      why.push_back(fmt::format(
          "groups of one kind lie differently, the slowest takes {:.1f} times what the fastest "
          "does: the analytic engine takes the slowest for all of a kind, and may be off by a "
          "factor of two",
          costs().most_unlike()));
    }
    if (too_fast) {
      why.push_back(fmt::format("a rank that the analytic engine does not follow needs at least {}",
                                Humanize(result_.bound)));
    }
    if (why.empty()) return false;
    result_.warnings.push_back(
        Warning("TL1622", fmt::format("{}", fmt::join(why, "; ")),
                "run it with engine: flow, which looks at each; or placement: packed"));
    return too_fast;
  }

  void WarnOfGroupsTogether() {
    if (scenario_.engine != EngineKind::kAnalytic) return;
    const std::string missed = MissedByGroupsTogether(result_.timeline.together, result_.time);
    if (missed.empty()) return;
    result_.warnings.push_back(
        Warning("TL1622", missed,
                "run it with engine: flow, which shares every link; or keep tensor-parallel groups "
                "inside servers"));
  }

  // Groups of one kind share links where pairs are not alike, those of several kinds do not: packed
  // in the usual order they hardly meet.
  void WarnOfSharedLinks(const TrainingPlan& plan) {
    if (scenario_.engine != EngineKind::kAnalytic || costs().alike()) return;
    const bool packed = result_.placement_kind == PlacementKind::kPacked;
    if (packed && (plan.pp == 1 || plan.order == TrainingPlan().order)) return;
    result_.warnings.push_back(
        Warning("TL1622",
                "on a fabric that is not the same for all, groups of several stages or kinds may "
                "share links in this placement and order; the analytic engine takes one kind at a "
                "time, and may miss three quarters of the time",
                "run it with engine: flow, which shares every link"));
  }

  void CheckBound() const {
    if (result_.status != RunStatus::kFinished) return;
    // What skipping may have put a run off by, it may be below its bound by.
    const bool skips = result_.traffic && result_.traffic->fast_forward;
    const Time error = skips ? result_.traffic->fast_forward->error : Time();
    TL_CHECK(result_.time + error >= result_.bound, "a run beats its lower bound",
             result_.time.ps(), result_.bound.ps());
  }

  Result<void> RunAllJobs() {
    if (auto done = RunJobs(scenario_, options_, result_); !done) return done;
    CheckBound();
    return {};
  }

  Result<void> RunWorkload(const TraceJob& job) {
    result_.trace = job.graph;
    if (auto placed = Place(job.graph->ranks()); !placed) return placed;
    if (auto done = Simulate(*job.graph); !done) return done;
    result_.bound = TraceBound(*job.graph, *result_.fabric, result_.placement);
    CheckBound();
    return {};
  }

  Result<void> RunWorkload(const TrafficInput& traffic) {
    if (auto placed = Place(scenario_.cluster.available()); !placed) return placed;
    if (auto done = RunTraffic(scenario_, traffic, options_, result_); !done) return done;
    CheckBound();
    return {};
  }

  Result<void> RunWorkload(const TrainingJob& job) {
    if (!*step_) return std::unexpected(step_->error());
    PreparedStep& step = **step_;
    result_.training = std::make_shared<const TrainingWorkload>(std::move(step.training));
    const TrainingWorkload& training = *result_.training;
    result_.assumptions.insert(result_.assumptions.end(), training.assumptions.begin(),
                               training.assumptions.end());
    result_.warnings.insert(result_.warnings.end(), training.warnings.begin(),
                            training.warnings.end());
    if (auto placed = Place(training.graph->ranks()); !placed) return placed;
    result_.memory_capacity = step.memory;
    Chooser chooser(Inputs());
    const auto chosen = chooser.ChooseAll(*training.graph);
    if (!chosen) return std::unexpected(PlaceAt(job.algorithms_origin, chosen.error()));
    WarnOfSharedLinks(job.plan);
    if (!options_.try_changes) return RunStep(*chosen);
    Result<void> done;
    const auto run = [&] {
      done = RunStep(*chosen);
      return done.has_value() && result_.iteration.has_value();
    };
    StepTrials trials = TryBeside(run, scenario_, options_.stop, costs(), chooser, result_);
    if (done && result_.iteration) AddTrials(std::move(trials), result_);
    return done;
  }

  Result<void> RunStep(std::span<const Chosen> chosen) {
    std::vector<CollectiveChoice> choices;
    for (const Chosen& one : chosen) choices.push_back(one.choice);
    const ResolvedGraph graph(*result_.training->graph, std::move(choices));
    if (auto done = Simulate(graph); !done) return done;
    WarnOfGroupsTogether();
    SummariseTraining(graph, chosen, result_);
    const auto bound =
        StepBound(graph, result_.timeline, *scenario_.cluster.fabric, result_.placement, costs());
    if (!bound) return std::unexpected(bound.error());
    result_.bound = *bound;
    if (!WarnOfUnlikeGroups()) CheckBound();
    return {};
  }

  // Time, bound, links and timeline of the result are those of the last size.
  Result<void> RunWorkload(const CollectiveJob& job) {
    if (auto placed = Place(job.ranks); !placed) return placed;
    std::vector<DeviceId> endpoints;
    for (std::uint32_t r = 0; r < job.ranks; ++r) {
      endpoints.push_back(result_.placement.endpoint(RankId{r}));
    }
    Chooser chooser(Inputs());
    for (const Bytes size : job.sizes) {
      const auto chosen = ChooseFor(chooser, job, size);
      if (!chosen) return std::unexpected(PlaceAt(job.algorithm_origin, chosen.error()));
      WarnOfClosedForm(chosen->choice, job.ranks);
      const auto bound = LowerBound(*result_.router, result_.transport, chosen->choice, endpoints);
      if (!bound) return std::unexpected(bound.error());
      result_.bound = *bound;
      const auto graph = SingleCollective(chosen->choice, job.ranks);
      if (auto done = Simulate(*graph); !done) return done;
      CheckBound();
      if (result_.status != RunStatus::kFinished) return {};
      CollectiveRow row = RowOf(*chosen, job.ranks, result_.time, result_.bound);
      row.dtype = job.dtype;
      result_.rows.push_back(std::move(row));
    }
    return {};
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  RunResult result_;
  std::shared_ptr<const Router> router_;  // also the result's
  std::unique_ptr<FabricCosts> costs_;
  std::optional<Result<PreparedStep>> step_;  // of a training job
  bool warned_of_closed_form_ = false;
};

}  // namespace

namespace {

// Engines know no files: what they find wrong is the fabric's or else the workload's.
void Place(const Scenario& scenario, Diagnostic& problem) {
  if (!problem.where.file.empty()) return;
  const auto& faults = scenario.cluster.faults;
  const bool of_fabric = problem.code.starts_with("TL14");
  Origin origin = of_fabric ? scenario.fabric_origin : scenario.workload_origin;
  if (problem.code == "TL1602" && !scenario.slow_origin.where.file.empty()) {
    origin = scenario.slow_origin;
  }
  if (problem.code == "TL1410" && !faults.empty()) {
    // Every fabric that a builder makes is connected: the faults have cut it.
    origin = {faults.front().where, faults.front().excerpt};
    problem.hint += "; the faults cut the fabric: keep a path, or leave that rank's node out";
  }
  problem.where = std::move(origin.where);
  problem.excerpt = std::move(origin.excerpt);
}

Result<RunResult> RunOnce(const Scenario& scenario, const RunOptions& options) {
  auto result = Run(scenario, options).Execute();
  for (Diagnostic& problem : result ? result->warnings : result.error()) Place(scenario, problem);
  return result;
}

// Progress of one of several runs is that of a part of the whole.
class RepeatProgress final : public ProgressSink {
 public:
  RepeatProgress(ProgressSink* sink, std::uint32_t runs) : sink_(sink), runs_(runs) {}

  void NextRun() { ++done_; }
  void Update(double fraction, std::string_view what) override {
    if (sink_ == nullptr) return;
    const double all = fraction < 0 ? fraction : (done_ + fraction) / runs_;
    sink_->Update(all, fmt::format("run {} of {}, {}", done_ + 1, runs_, what));
  }
  void Note(std::string_view text) override {
    if (sink_ != nullptr && done_ == 0) sink_->Note(text);
  }

 private:
  ProgressSink* sink_;
  std::uint32_t runs_;
  std::uint32_t done_ = 0;
};

}  // namespace

Result<RunResult> RunScenario(const Scenario& scenario, const RunOptions& options) {
  if (options.repeat <= 1) return RunOnce(scenario, options);
  RepeatProgress progress(options.progress, options.repeat);
  RunOptions once = options;
  once.progress = &progress;
  auto first = RunOnce(scenario, once);
  if (!first) return first;
  std::vector<std::uint64_t> seeds = {scenario.seed};
  std::vector<Figures> runs = {FiguresOf(*first)};
  once.samples = nullptr;
  once.try_changes = false;
  Scenario again = scenario;
  again.sampling.reset();
  while (runs.size() < options.repeat && first->status != RunStatus::kInterrupted) {
    ++again.seed;
    progress.NextRun();
    auto next = RunOnce(again, once);
    if (!next) return next;
    first->wall_s += next->wall_s;
    first->cpu_s += next->cpu_s;
    // Of several runs the result is finished only if all are.
    if (next->status != RunStatus::kFinished) first->status = next->status;
    if (next->status == RunStatus::kInterrupted) break;
    seeds.push_back(again.seed);
    runs.push_back(FiguresOf(*next));
  }
  first->repeat = SummariseRuns(seeds, runs);
  return first;
}

}  // namespace trunkline
