#include "trunkline/engine/packet_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/coupled/packet_run.h"
#include "engine/coupled/window_delay.h"
#include "engine/coupled/window_graph.h"
#include "engine/flow/flow_run.h"
#include "engine/flow/last_arrivals.h"

namespace trunkline {
namespace {

Result<Interval> Resolve(const PacketWindow& window, WindowCutter& cutter, Time end) {
  const Interval span =
      window.tasks.empty() ? Interval{window.from, window.until} : cutter.SpanOf(window.tasks);
  if (span.begin >= span.end) {
    return Error(
        "TL1624",
        fmt::format("the window from {} to {} is empty", Humanize(span.begin), Humanize(span.end)),
        "a window ends after it begins");
  }
  if (span.begin >= end) {
    return Error("TL1624",
                 fmt::format("the window begins at {}, the run ends at {}", Humanize(span.begin),
                             Humanize(end)),
                 fmt::format("write times from 0 to {}", Humanize(end)));
  }
  return span;
}

// The times of all tasks of a run's ranks, collectives with their last arrivals.
template <typename Run>
class MarkedTimes {
 public:
  MarkedTimes(const TaskGraph& graph, const Run& run)
      : run_(run), arrivals_(graph, run.problem(), run.folding(), run.runner()) {}

  [[nodiscard]] std::vector<TaskTimes> Of(RankId rank) {
    const auto known = run_.times(rank);
    std::vector<TaskTimes> times(known.begin(), known.end());
    arrivals_.Mark(run_.folding().simulated_rank[Index(rank)], times);
    return times;
  }

 private:
  const Run& run_;
  LastArrivals arrivals_;
};

// From when a task's bytes could move.
Time Moving(TaskKind kind, const TaskTimes& times) {
  return times.end - (kind == TaskKind::kReceive ? times.sent : std::max(times.start, times.sent));
}

// Holds the window as packets against the window as flows and the whole run.
class Comparison {
 public:
  Comparison(const FlowRun& whole, const WindowGraph& cut, const FlowRun& flows,
             const PacketRun& packets, WindowDelays delays)
      : whole_(whole),
        cut_(cut),
        flows_(cut, flows),
        packets_(cut, packets),
        delays_(std::move(delays)) {}

  void Fill(WindowReport& report) {
    for (std::uint32_t rank = 0; rank < cut_.ranks(); ++rank) Add(RankId(rank), report);
    for (auto& [label, kind] : kinds_) {
      kind.flow_s /= static_cast<double>(kind.tasks);
      kind.packet_s /= static_cast<double>(kind.tasks);
      report.kinds.push_back(kind);
    }
    report.step_delay = delays_.OfTheEnd();
  }

 private:
  void Add(RankId rank, WindowReport& report) {
    const std::vector<TaskTimes> flows = flows_.Of(rank);
    const std::vector<TaskTimes> packets = packets_.Of(rank);
    const auto whole = whole_.times(rank);
    const std::vector<Task>& tasks = cut_.program(cut_.program_of(rank)).tasks;
    const auto origins = cut_.origins(rank);
    std::vector<WindowDelays::Delay> delays;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      if (origins[i].task == WindowGraph::Origin::kRelease) continue;
      ++report.tasks;
      report.flow_time = std::max(report.flow_time, flows[i].end);
      report.packet_time = std::max(report.packet_time, packets[i].end);
      const TaskTimes& own = whole[origins[i].task];
      const Time delay = packets[i].end - flows[i].end;
      delays.push_back({origins[i].task, delay});
      if (!origins[i].cut) {
        const Time apart = report.from + flows[i].end - own.end;
        report.cut_error = std::max(report.cut_error, std::max(apart, Time() - apart));
      }
      if (tasks[i].kind == TaskKind::kCompute) continue;
      WindowKind& kind = kinds_[tasks[i].label];
      kind.label = tasks[i].label;
      if (kind.tasks++ == 0 || delay > kind.delay) {
        kind.rank = rank;
        kind.task = origins[i].task;
        kind.start = own.start;
        kind.delay = delay;
      }
      kind.cut += origins[i].cut ? 1U : 0U;
      kind.flow_s += Moving(tasks[i].kind, flows[i]).seconds();
      kind.packet_s += Moving(tasks[i].kind, packets[i]).seconds();
    }
    delays_.Add(rank, delays);
  }

  const FlowRun& whole_;
  const WindowGraph& cut_;
  MarkedTimes<FlowRun> flows_;
  MarkedTimes<PacketRun> packets_;
  WindowDelays delays_;
  std::map<std::uint16_t, WindowKind> kinds_;
};

Result<WindowReport> RunCut(const EngineInput& input, const PacketInput& packets,
                            const PacketWindow& wanted, const EngineOptions& options,
                            const FlowRun& whole, const MatchedTasks& matched,
                            const WindowGraph& cut, Interval window) {
  const EngineInput part{input.router, input.transport, cut, input.placement};
  WindowReport report;
  report.from = window.begin;
  report.until = window.end;
  const auto flows = FlowRun::Make(part, options);
  if (!flows) return std::unexpected(flows.error());
  if (wanted.announce) {
    const auto timeline = (*flows)->MakeTimeline();
    if (!timeline) return std::unexpected(timeline.error());
    wanted.announce(timeline->links);
  }
  const auto run = PacketRun::Make(part, packets, options);
  if (!run) return std::unexpected(run.error());
  report.status = (*run)->status();
  report.warnings = (*run)->warnings();
  if ((*flows)->status() == RunStatus::kFinished && report.status == RunStatus::kFinished) {
    WindowDelays delays(input.graph, whole, matched, window.begin);
    Comparison(whole, cut, **flows, **run, std::move(delays)).Fill(report);
  } else if (report.status != RunStatus::kInterrupted) {
    report.blocked = (*run)->runner().Blocked();
  }
  report.packets = (*run)->Report(report.packet_time);
  return report;
}

}  // namespace

Result<WindowTimeline> RunPacketWindow(const EngineInput& input, const PacketInput& packets,
                                       const PacketWindow& window, const EngineOptions& options) {
  const auto whole = FlowRun::Make(input, options);
  if (!whole) return std::unexpected(whole.error());
  auto timeline = (*whole)->MakeTimeline();
  if (!timeline) return std::unexpected(timeline.error());
  WindowTimeline result{*std::move(timeline), {}};
  if (result.timeline.status != RunStatus::kFinished) return result;
  const MatchedTasks matched(input.graph);
  WindowCutter cutter(input.graph, **whole, matched);
  const auto span = Resolve(window, cutter, result.timeline.end);
  if (!span) return std::unexpected(span.error());
  const auto cut = cutter.Cut(*span);
  if (!cut) return std::unexpected(cut.error());
  auto report = RunCut(input, packets, window, options, **whole, matched, *cut, *span);
  if (!report) return std::unexpected(report.error());
  result.window = *std::move(report);
  return result;
}

}  // namespace trunkline
