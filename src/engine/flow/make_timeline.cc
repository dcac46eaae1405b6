#include "engine/flow/make_timeline.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/accounting.h"
#include "engine/flow/last_arrivals.h"
#include "engine/flow/link_use.h"
#include "trunkline/base/int128.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Turns a finished simulation into a Timeline.
class Reporter {
 public:
  Reporter(const EngineInput& input, const EngineOptions& options, const FlowProblem& problem,
           const Folding& folding, const TaskRun& runner)
      : input_(input),
        options_(options),
        problem_(problem),
        folding_(folding),
        runner_(runner),
        arrivals_(input.graph, problem, folding, runner),
        traffic_(runner.AllTraffic()) {}

  Result<Timeline> Report(RunStatus status, Time reached);

 private:
  [[nodiscard]] std::vector<TaskTimes> TimesUntil(std::uint32_t rank, Time end);
  void AddRanks();
  Result<void> AddCollectives();
  void CutOffOthers();
  void AddSpans();
  void AddLinks();
  void AddCounters();

  const EngineInput& input_;
  const EngineOptions& options_;
  const FlowProblem& problem_;
  const Folding& folding_;
  const TaskRun& runner_;
  LastArrivals arrivals_;
  std::vector<Traffic> traffic_;  // by class of connections
  Timeline timeline_;
};

// The times of a rank's tasks, with those that never ended cut off at `end`.
std::vector<TaskTimes> Reporter::TimesUntil(std::uint32_t rank, Time end) {
  const auto known = runner_.times(rank);
  std::vector<TaskTimes> times(known.begin(), known.end());
  for (TaskTimes& task : times) {
    if (!TaskRun::Ended(task)) task = {end, end, end};
  }
  arrivals_.Mark(rank, times);
  return times;
}

void Reporter::AddRanks() {
  const auto count = static_cast<std::uint32_t>(std::ranges::count_if(
      folding_.ranks, [&](RankId rank) { return input_.graph.awaited(rank); }));
  std::vector<Time> finish(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    for (const TaskTimes& task : runner_.times(rank))
      finish[rank] = std::max(finish[rank], task.end);
  }
  const auto last = std::ranges::max_element(finish);
  if (last == finish.end()) return;
  timeline_.critical = static_cast<std::size_t>(last - finish.begin());
  timeline_.end = std::max(timeline_.end, *last);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    RankSummary summary = AccountRank(folding_.ranks[rank], runner_.program_of(rank),
                                      TimesUntil(rank, timeline_.end), timeline_.end);
    summary.ranks_represented = folding_.ranks_represented[rank];
    timeline_.ranks.push_back(summary);
  }
}

Result<void> Reporter::AddCollectives() {
  if (timeline_.ranks.empty()) return {};
  const auto critical = static_cast<std::uint32_t>(timeline_.critical);
  const Program& program = runner_.program_of(critical);
  const std::vector<TaskTimes> times = TimesUntil(critical, timeline_.end);
  timeline_.collectives = AccountCollectives(program, times);
  for (CollectiveSummary& summary : timeline_.collectives) {
    std::vector<DeviceId> members;
    for (const RankId member :
         input_.graph.members(input_.graph.communicator(folding_.ranks[critical], summary.role))) {
      members.push_back(input_.placement.endpoint(member));
    }
    summary.group_size = static_cast<std::uint32_t>(members.size());
    auto bound = LowerBound(input_.router, input_.transport,
                            input_.graph.collectives()[summary.collective], members);
    if (!bound) return std::unexpected(bound.error());
    summary.bound = *bound;
  }
  TimeCollectives(program, times, timeline_.collectives);
  return {};
}

void Reporter::AddSpans() {
  std::vector<RankId> record = options_.record;
  if (options_.record_critical && !timeline_.ranks.empty()) {
    record.push_back(timeline_.ranks[timeline_.critical].rank);
  }
  std::ranges::sort(record);
  const auto repeats = std::ranges::unique(record);
  record.erase(repeats.begin(), repeats.end());
  for (const RankId rank : record) {
    if (Index(rank) >= problem_.ranks.size()) continue;
    const std::uint32_t simulated = folding_.simulated_rank[Index(rank)];
    const Program& program = runner_.program_of(simulated);
    const auto times = runner_.times(simulated);
    const std::size_t first = timeline_.spans.size();
    for (std::uint32_t i = 0; i < times.size(); ++i) {
      if (!TaskRun::Ended(times[i])) continue;
      timeline_.spans.push_back(
          {rank, i, program.tasks[i].stream, program.tasks[i].label, times[i].start, times[i].end});
    }
    std::ranges::sort(std::span(timeline_.spans).subspan(first), {},
                      [](const TaskSpan& span) { return std::pair(span.start, span.task); });
  }
}

// Of messages to ranks that nobody awaits, those that have arrived by the end count.
void Reporter::CutOffOthers() {
  const auto each = [&](auto look) {
    for (std::uint32_t rank = 0; rank < folding_.ranks.size(); ++rank) {
      if (input_.graph.awaited(folding_.ranks[rank])) continue;
      const FlowProblem::Rank& whole = problem_.ranks[Index(folding_.ranks[rank])];
      const std::vector<std::uint32_t>& slot = problem_.shapes[whole.program].slot;
      const std::vector<Task>& tasks = runner_.program_of(rank).tasks;
      for (std::uint32_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].kind != TaskKind::kReceive) continue;
        const std::uint32_t connection = problem_.peer_connections[whole.first_receive + slot[i]];
        const TaskTimes& times = runner_.times(rank)[i];
        look(traffic_[folding_.connection_class[connection]], tasks[i],
             TaskRun::Ended(times) && times.end <= timeline_.end);
      }
    }
  };
  each([](Traffic& traffic, const Task&, bool) { traffic = {}; });
  each([](Traffic& traffic, const Task& task, bool arrived) {
    if (!arrived) return;
    ++traffic.transfers;
    traffic.bytes += task.bytes.count();
  });
}

void Reporter::AddLinks() {
  std::vector<Uint128> by_number(problem_.capacities.size(), 0);
  problem_.ForEachRow([&](std::uint32_t begin, std::uint32_t end, std::uint32_t /*model*/) {
    const FlowPath* const paths = problem_.paths.data();
    if (paths[begin].hop_count == 0) return;
    Uint128 sum = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      const auto bytes = static_cast<std::uint64_t>(traffic_[folding_.connection_class[i]].bytes);
      by_number[paths[i].last_hop.resource] +=
          static_cast<Uint128>(bytes) * paths[i].last_hop.weight;
      sum += bytes;
    }
    if (sum == 0) return;
    for (const FlowHop& hop : problem_.shared_hops_of(paths[begin])) {
      by_number[hop.resource] += sum * hop.weight;
    }
  });
  std::vector<Uint128> by_resource(problem_.resource_index.size(), 0);
  for (std::size_t resource = 0; resource < by_resource.size(); ++resource) {
    const std::uint32_t number = problem_.resource_index[resource];
    if (number != FlowProblem::kUnused) by_resource[resource] = by_number[number];
  }
  timeline_.links = LinkUses(input_.router, by_resource);
}

void Reporter::AddCounters() {
  timeline_.flow = runner_.counters();
  for (std::size_t i = 0; i < traffic_.size(); ++i) {
    timeline_.flow.transfers_represented +=
        traffic_[i].transfers * folding_.connections_represented[i];
  }
  timeline_.events = runner_.events();
}

Result<Timeline> Reporter::Report(RunStatus status, Time reached) {
  timeline_.end = reached;
  timeline_.status = status;
  AddRanks();
  if (auto added = AddCollectives(); !added) return std::unexpected(added.error());
  AddSpans();
  CutOffOthers();
  AddLinks();
  AddCounters();
  if (status == RunStatus::kUnfinished || status == RunStatus::kDeadlocked) {
    timeline_.blocked = runner_.Blocked();
  }
  return std::move(timeline_);
}

}  // namespace

Result<Timeline> MakeTimeline(const EngineInput& input, const EngineOptions& options,
                              const FlowProblem& problem, const Folding& folding,
                              const TaskRun& runner, RunStatus status, Time reached) {
  return Reporter(input, options, problem, folding, runner).Report(status, reached);
}

}  // namespace trunkline
