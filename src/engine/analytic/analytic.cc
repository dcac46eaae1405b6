#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/accounting.h"
#include "engine/analytic/analytic_time.h"
#include "engine/analytic/costs.h"
#include "engine/analytic/groups_together.h"
#include "engine/analytic/representatives.h"
#include "engine/analytic/step_run.h"
#include "trunkline/engine/engine.h"

namespace trunkline {
namespace {

// A task that never ended counts up to the end of the run.
std::vector<TaskTimes> Closed(std::vector<TaskTimes> times, Time end) {
  for (TaskTimes& t : times) {
    if (t.end == StepRun::kUnknown) t = {.start = end, .sent = end, .end = end};
  }
  return times;
}

Time LastEnd(const StepRun& run) {
  Time end;
  for (const StepRun::Rank& rank : run.ranks()) {
    for (const TaskTimes& t : rank.times) {
      if (t.end != StepRun::kUnknown) end = std::max(end, t.end);
    }
  }
  return end;
}

// Every rank is represented by one that runs its program.
std::vector<std::uint32_t> RanksRepresented(const TaskGraph& graph, const StepRun& run) {
  std::vector<std::uint32_t> ranks(graph.program_count());
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) ++ranks[graph.program_of(RankId(r))];
  std::vector<std::uint32_t> representatives(graph.program_count());
  for (const auto& rank : run.ranks()) ++representatives[graph.program_of(rank.id)];
  std::vector<std::uint32_t> represented;
  for (const auto& rank : run.ranks()) {
    const std::uint32_t program = graph.program_of(rank.id);
    const std::uint32_t share = ranks[program] / representatives[program]--;
    ranks[program] -= share;
    represented.push_back(share);
  }
  return represented;
}

void AddSpans(const TaskGraph& graph, const StepRun& run, std::vector<RankId> recorded,
              Timeline& timeline) {
  std::map<RankId, const StepRun::Rank*> by_id;
  std::map<std::uint32_t, const StepRun::Rank*> by_program;
  for (const StepRun::Rank& rank : run.ranks()) {
    by_id.emplace(rank.id, &rank);
    by_program.emplace(graph.program_of(rank.id), &rank);
  }
  std::ranges::sort(recorded);
  const auto repeats = std::ranges::unique(recorded);
  recorded.erase(repeats.begin(), repeats.end());
  std::size_t spans = 0;
  for (const RankId id : recorded) spans += graph.program(graph.program_of(id)).tasks.size();
  timeline.spans.reserve(spans);
  for (const RankId id : recorded) {
    const auto own = by_id.find(id);
    const StepRun::Rank& rank =
        own != by_id.end() ? *own->second : *by_program.at(graph.program_of(id));
    const auto first = static_cast<std::ptrdiff_t>(timeline.spans.size());
    for (std::size_t stream = 0; stream < graph.streams().size(); ++stream) {
      const auto middle = static_cast<std::ptrdiff_t>(timeline.spans.size());
      for (std::uint32_t i = 0; i < rank.times.size(); ++i) {
        const Task& task = rank.program->tasks[i];
        if (task.stream != stream || rank.times[i].end == StepRun::kUnknown) continue;
        timeline.spans.push_back({.rank = id,
                                  .task = i,
                                  .stream = task.stream,
                                  .label = task.label,
                                  .start = rank.times[i].start,
                                  .end = rank.times[i].end});
      }
      // A stream runs its tasks in order.
      std::ranges::inplace_merge(
          timeline.spans.begin() + first, timeline.spans.begin() + middle, timeline.spans.end(), {},
          [](const TaskSpan& span) { return std::pair(span.start, span.task); });
    }
  }
}

Result<void> AddCollectives(const StepRun::Rank& critical, std::span<const TaskTimes> times,
                            StepCosts& costs, Timeline& timeline) {
  timeline.collectives = AccountCollectives(*critical.program, times);
  for (CollectiveSummary& summary : timeline.collectives) {
    const std::uint32_t group = critical.groups[summary.role];
    const auto bound = costs.Bound(group, summary.collective);
    if (!bound) return std::unexpected(bound.error());
    summary.bound = *bound;
    summary.group_size = costs.size(group);
  }
  TimeCollectives(*critical.program, times, timeline.collectives);
  return {};
}

bool HasUnorderedTasks(const TaskGraph& graph) {
  for (std::uint32_t i = 0; i < graph.program_count(); ++i) {
    const std::vector<Task>& tasks = graph.program(i).tasks;
    if (std::ranges::any_of(tasks, &Task::unordered)) return true;
  }
  return false;
}

Result<void> Check(const EngineInput& input, const EngineOptions& options) {
  if (options.handshake == Handshake::kRendezvous) {
    return Error("TL1621", "the analytic engine knows eager messages only",
                 "use engine: flow for rendezvous");
  }
  if (input.graph.ranks() > input.placement.rank_count()) {
    return Error("TL1600",
                 fmt::format("the workload has {} ranks and the placement {}", input.graph.ranks(),
                             input.placement.rank_count()),
                 "place every rank");
  }
  if (HasUnorderedTasks(input.graph)) {
    return Error("TL1623", "the analytic engine runs the tasks of a stream in order only",
                 "use engine: flow, which starts each as soon as it can");
  }
  return {};
}

}  // namespace

Result<std::optional<Time>> AnalyticTime(const EngineInput& input, const EngineOptions& options,
                                         FabricCosts& fabric) {
  if (auto checked = Check(input, options); !checked) return std::unexpected(checked.error());
  StepCosts costs(input, fabric);
  StepRun run(input, options, costs, Representatives(input.graph));
  const auto status = run.Run();
  if (!status) return std::unexpected(status.error());
  if (*status != RunStatus::kFinished) return std::nullopt;
  return LastEnd(run);
}

Result<Timeline> RunAnalytic(const EngineInput& input, const EngineOptions& options) {
  FabricCosts fabric(input.router, input.transport);
  return RunAnalytic(input, options, fabric);
}

Result<Timeline> RunAnalytic(const EngineInput& input, const EngineOptions& options,
                             FabricCosts& fabric) {
  if (auto checked = Check(input, options); !checked) return std::unexpected(checked.error());
  StepCosts costs(input, fabric);
  StepRun run(input, options, costs, Representatives(input.graph));
  const auto status = run.Run();
  if (!status) return std::unexpected(status.error());

  fabric.NoteUnlike(costs.most_unlike());
  auto together = LongestTogether(input, run, costs);
  if (!together) return std::unexpected(together.error());
  Timeline timeline;
  timeline.together = *std::move(together);
  timeline.status = *status;
  timeline.events = run.tasks_run();
  timeline.end = LastEnd(run);
  if (*status == RunStatus::kUnfinished) timeline.blocked = run.Blocked();
  const std::vector<std::uint32_t> represented = RanksRepresented(input.graph, run);
  for (std::size_t i = 0; i < run.ranks().size(); ++i) {
    const StepRun::Rank& rank = run.ranks()[i];
    timeline.ranks.push_back(
        AccountRank(rank.id, *rank.program, Closed(rank.times, timeline.end), timeline.end));
    timeline.ranks.back().ranks_represented = represented[i];
    if (timeline.ranks[i].finish > timeline.ranks[timeline.critical].finish) timeline.critical = i;
  }
  if (!timeline.ranks.empty()) {
    const StepRun::Rank& critical = run.ranks()[timeline.critical];
    const auto added =
        AddCollectives(critical, Closed(critical.times, timeline.end), costs, timeline);
    if (!added) return std::unexpected(added.error());
  }
  std::vector<RankId> record = options.record;
  if (options.record_critical && !timeline.ranks.empty()) {
    record.push_back(timeline.ranks[timeline.critical].rank);
  }
  AddSpans(input.graph, run, std::move(record), timeline);
  return timeline;
}

}  // namespace trunkline
