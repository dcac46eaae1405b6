#include "scenario/prepared_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenario/prepare.h"
#include "scenario/reader.h"
#include "scenario/resolved_graph.h"
#include "scenario/summary.h"
#include "trunkline/fabric/build.h"
#include "workload/repeated_graph.h"
#include "workload/traffic/message_graph.h"

namespace trunkline {
namespace {

// About 1.2 GB of tasks.
constexpr std::uint64_t kMostTasks = 20'000'000;

// A graph that another one is made from, which it keeps.
class KeptGraph final : public DerivedGraph {
 public:
  explicit KeptGraph(std::shared_ptr<const TaskGraph> graph)
      : DerivedGraph(*graph), graph_(std::move(graph)) {}

 private:
  std::shared_ptr<const TaskGraph> graph_;
};

class Preparer {
 public:
  Preparer(const Scenario& scenario, std::size_t index, Placement placement, RunResult& result)
      : scenario_(scenario), job_(scenario.jobs[index]), result_(result) {
    prepared_.index = index;
    prepared_.placement = std::move(placement);
  }

  Result<PreparedJob> Prepare() {
    auto made = std::visit([this](const auto& workload) { return Make(workload); }, job_.workload);
    if (made) made = Repeat();
    if (!made) return std::unexpected(Placed(made.error()));
    prepared_.bound = std::max(prepared_.bound,
                               TraceBound(prepared_.alone(), *result_.fabric, prepared_.placement));
    return std::move(prepared_);
  }

 private:
  [[nodiscard]] ChoiceInput Inputs() const {
    return {*result_.router, result_.transport, prepared_.placement,
            scenario_.cluster.fabric->node};
  }

  Diagnostics Placed(Diagnostics problems) const {
    for (Diagnostic& problem : problems) {
      if (!problem.where.file.empty()) continue;
      problem.message = fmt::format("job '{}': {}", job_.name, problem.message);
      problem.where = job_.where;
      problem.excerpt = job_.excerpt;
    }
    return problems;
  }

  Result<void> Make(const TrainingJob& job) {
    auto step = PrepareStep(scenario_.cluster, job);
    if (!step) return std::unexpected(step.error());
    TrainingWorkload& training = step->training;
    for (const std::string& text : training.assumptions) {
      result_.assumptions.push_back(fmt::format("{}: {}", job_.name, text));
    }
    result_.warnings.insert(result_.warnings.end(), training.warnings.begin(),
                            training.warnings.end());
    for (const StageMemory& stage : training.memory) {
      prepared_.fits_memory = prepared_.fits_memory && stage.total() <= step->memory;
    }
    prepared_.workload = std::move(training.graph);
    const auto chosen = Chooser(Inputs()).ChooseAll(*prepared_.workload);
    if (!chosen) return std::unexpected(PlaceAt(job.algorithms_origin, chosen.error()));
    std::vector<CollectiveChoice> choices;
    for (const Chosen& one : *chosen) choices.push_back(one.choice);
    prepared_.resolved = std::make_unique<ResolvedGraph>(*prepared_.workload, std::move(choices));
    return {};
  }

  Result<void> Make(const CollectiveJob& job) {
    Chooser chooser(Inputs());
    const auto chosen = ChooseFor(chooser, job, job.sizes.front());
    if (!chosen) return std::unexpected(PlaceAt(job.algorithm_origin, chosen.error()));
    std::vector<DeviceId> endpoints;
    for (std::uint32_t r = 0; r < job.ranks; ++r) {
      endpoints.push_back(prepared_.placement.endpoint(RankId{r}));
    }
    const auto bound = LowerBound(*result_.router, result_.transport, chosen->choice, endpoints);
    if (!bound) return std::unexpected(bound.error());
    prepared_.bound =
        *bound;  // of one: repetitions overlap where ranks are done at different times
    prepared_.workload = SingleCollective(chosen->choice, job.ranks);
    return {};
  }

  Result<void> Make(const TraceJob& job) {
    prepared_.workload = std::make_unique<KeptGraph>(job.graph);
    return {};
  }

  // Draws of two jobs are independent of each other, whatever their order.
  Result<void> Make(const TrafficInput& input) {
    if (input.messages) {
      prepared_.workload = std::make_unique<MessageGraph>(*input.messages);
      return {};
    }
    const std::uint64_t seed = SeedAt(prepared_.placement, *result_.fabric, scenario_.seed);
    TrafficInput bounded = input;
    bounded.spec.most_flows = kMostMessages;
    const auto ranks = static_cast<std::uint32_t>(prepared_.placement.rank_count());
    const auto made = MakeMessages(bounded, ranks, HostRate(*result_.fabric), seed);
    if (!made) return std::unexpected(made.error());
    if (!made->triggers.empty()) {
      return Error("TL1222", "messages that wait for others, beside other work",
                   "leave `parallel` out");
    }
    prepared_.workload = std::make_unique<MessageGraph>(*made);
    return {};
  }

  Result<void> Repeat() {
    const TaskGraph& once = prepared_.once();
    std::uint64_t tasks = 0;
    for (std::uint32_t i = 0; i < once.program_count(); ++i) {
      tasks += once.program(i).tasks.size() + 1;
    }
    if (tasks > kMostTasks / job_.repetitions) {
      return Error(
          "TL1220",
          fmt::format("{} repetitions of {} tasks, more than {} in all", job_.repetitions, tasks,
                      kMostTasks),
          fmt::format("at most {} repetitions", std::max<std::uint64_t>(1, kMostTasks / tasks)));
    }
    if (job_.repetitions > 1) {
      prepared_.repeated = std::make_unique<RepeatedGraph>(once, Time(), job_.repetitions);
    }
    if (job_.start > Time()) {
      prepared_.started = std::make_unique<RepeatedGraph>(once, job_.start, job_.repetitions);
    }
    return {};
  }

  const Scenario& scenario_;
  const Job& job_;
  RunResult& result_;
  PreparedJob prepared_;
};

}  // namespace

Result<PreparedJob> PrepareJob(const Scenario& scenario, std::size_t index, Placement placement,
                               RunResult& result) {
  return Preparer(scenario, index, std::move(placement), result).Prepare();
}

}  // namespace trunkline
