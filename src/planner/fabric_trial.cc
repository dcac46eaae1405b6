#include "trunkline/planner/fabric_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/link_load.h"
#include "planner/time_work.h"
#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

constexpr TransportKind kTransport = TransportKind::kInfiniband;

class Trial {
 public:
  Trial(FabricTrial& trial, const TrialOptions& options) : trial_(trial), options_(options) {}

  void Run() {
    const std::size_t endpoints = trial_.built->fabric.endpoints().size();
    if (options_.collectives && endpoints > 1) {
      const bool flow = options_.engine == EngineKind::kFlow;
      trial_.all_reduce =
          Collective(Primitive::kAllReduce,
                     flow && endpoints > kFlowReduce ? EngineKind::kAnalytic : options_.engine);
      if (!trial_.stopped) {
        trial_.all_to_all = flow && endpoints > kFlowExchange
                                ? ByLinkLoad()
                                : Collective(Primitive::kAllToAll, options_.engine);
      }
    }
    if (options_.step != nullptr && !trial_.stopped) trial_.step = Step();
  }

 private:
  std::optional<TrialTime> Collective(Primitive primitive, EngineKind engine) {
    Scenario scenario;
    scenario.name = trial_.name;
    scenario.cluster.fabric = trial_.built;
    scenario.cluster.routing = trial_.routing;
    scenario.cluster.transport = DefaultTransport(kTransport);
    scenario.cluster.transport_name = ToString(kTransport);
    CollectiveJob job;
    job.primitive = primitive;
    job.sizes = {options_.size};
    job.ranks = static_cast<std::uint32_t>(trial_.built->fabric.endpoints().size());
    scenario.workload = job;
    scenario.engine = engine;
    const auto result = Finish(scenario, ToString(primitive));
    if (!result) return std::nullopt;
    const CollectiveRow& row = result->rows.back();
    return TrialTime{
        .time = row.time,
        .how = fmt::format("{}: {}, {}", ToString(engine), row.algorithm, ToString(row.protocol))};
  }

  std::optional<TrialTime> Step() {
    Scenario scenario = *options_.step;
    scenario.cluster.fabric = trial_.built;
    scenario.cluster.faults.clear();
    scenario.cluster.routing = trial_.routing;
    const auto result = Finish(scenario, scenario.name);
    if (!result) return std::nullopt;
    return TrialTime{.time = result->time, .how = result->engine};
  }

  std::optional<RunResult> Finish(const Scenario& scenario, const std::string& what) {
    RunOptions run;
    run.progress = options_.progress;
    run.stop = options_.stop;
    auto result = RunScenario(scenario, run);
    if (!result) {
      trial_.troubles.push_back(fmt::format("{}: {}", what, result.error().front().message));
      return std::nullopt;
    }
    for (const Diagnostic& warning : result->warnings) {
      if (std::ranges::find(trial_.troubles, warning.message) == trial_.troubles.end()) {
        trial_.troubles.push_back(warning.message);
      }
    }
    if (result->status == RunStatus::kFinished) return *std::move(result);
    trial_.stopped |= result->status == RunStatus::kInterrupted;
    trial_.troubles.push_back(fmt::format("{}: {}", what, ToString(result->status)));
    return std::nullopt;
  }

  std::optional<TrialTime> ByLinkLoad() {
    const Router router(trial_.built->fabric, {.policy = trial_.routing});
    const auto load = LinkLoadTime(router, options_.size);
    if (!load) {
      trial_.troubles.push_back(fmt::format("all_to_all: {}", load.error().front().message));
      return std::nullopt;
    }
    std::string how = "link load";
    const bool sampled = load->rounds < load->all_rounds;
    if (sampled) {
      how += fmt::format(", {} of {} rounds", load->rounds, load->all_rounds);
    }
    return TrialTime{.time = load->time, .how = how, .bound = !sampled, .sampled = sampled};
  }

  FabricTrial& trial_;
  const TrialOptions& options_;
};

}  // namespace

FabricTrial TryFabric(std::string name, std::shared_ptr<const BuiltFabric> built,
                      RoutingPolicy routing, const TrialOptions& options) {
  FabricTrial trial{.name = std::move(name),
                    .built = std::move(built),
                    .routing = routing,
                    .analysis = {},
                    .cost = {},
                    .all_reduce = {},
                    .all_to_all = {},
                    .step = {},
                    .troubles = {}};
  trial.analysis = Analyse(*trial.built);
  trial.cost = CostFabric(*trial.built, options.prices, trial.analysis.bisection);
  TimeWork(options, trial);
  return trial;
}

void TimeWork(const TrialOptions& options, FabricTrial& trial) { Trial(trial, options).Run(); }

}  // namespace trunkline
