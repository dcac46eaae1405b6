#include "engine/coupled/window_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/none.h"
#include "engine/task_order.h"
#include "trunkline/base/check.h"
#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

bool Overlaps(Interval a, Interval window) {
  if (a.begin == a.end) return window.begin <= a.begin && a.begin < window.end;
  return a.begin < window.end && a.end > window.begin;
}

bool Crosses(Interval a, Interval window) { return a.begin < window.begin || a.end > window.end; }

// The part of `bytes` that moves within the window, in whole `unit`s.
Bytes PartOf(Bytes bytes, Interval moving, Interval window, std::int64_t unit) {
  const std::int64_t length = (moving.end - moving.begin).ps();
  if (length == 0 || bytes.count() <= unit) return bytes;
  const std::int64_t within =
      (std::min(moving.end, window.end) - std::max(moving.begin, window.begin)).ps();
  const Uint128 scaled = static_cast<Uint128>(bytes.count()) * static_cast<Uint128>(within);
  const auto part = static_cast<std::int64_t>((scaled + static_cast<Uint128>(length) - 1) /
                                              static_cast<Uint128>(length));
  return std::min(bytes, Bytes((part + unit - 1) / unit * unit));
}

// The choice for a part of a collective's bytes: an index into `choices`, where it is added unless
// it is there.
std::uint32_t PartChoice(std::vector<CollectiveChoice>& choices, std::uint32_t whole, Bytes bytes) {
  CollectiveChoice part = choices[whole];
  part.spec.bytes = bytes;
  for (std::uint32_t i = 0; i < choices.size(); ++i) {
    const CollectiveChoice& other = choices[i];
    if (other.spec == part.spec && other.algorithm == part.algorithm &&
        other.protocol == part.protocol) {
      return i;
    }
  }
  choices.push_back(std::move(part));
  return static_cast<std::uint32_t>(choices.size() - 1);
}

// A program of what lies in the window, task by task.
class ProgramCutter {
 public:
  ProgramCutter(const Program& whole, std::span<const TaskTimes> times, Interval window)
      : whole_(whole),
        times_(times),
        window_(window),
        order_(whole),
        index_(whole.tasks.size(), kNone) {}

  // The task, with what is left of its bytes or duration, lies in the window.
  void Keep(std::uint32_t index, const Task& task, bool cut) {
    Kept kept{.task = task, .index = index, .cut = cut, .release = {}};
    if (times_[index].start > window_.begin) kept.release = ReleaseOf(index);
    index_[index] = static_cast<std::uint32_t>(kept_.size());
    kept_.push_back(kept);
  }

  void Take(std::uint8_t release_stream, Program& program, std::vector<WindowGraph::Origin>& from);

 private:
  struct Kept {
    Task task;
    std::uint32_t index = 0;
    bool cut = false;
    Time release;  // not before, in the window's time
  };

  // When all that precedes a task outside the window has happened.
  [[nodiscard]] Time ReleaseOf(std::uint32_t index) const {
    Time release;
    const auto after = [&](std::uint32_t other, Time TaskTimes::* moment) {
      if (other == kNone || index_[other] != kNone) return;
      release = std::max(release, times_[other].*moment - window_.begin);
    };
    const Task& task = whole_.tasks[index];
    for (const std::uint32_t other : whole_.dependencies_of(task)) after(other, &TaskTimes::end);
    for (const std::uint32_t other : whole_.start_dependencies_of(task)) {
      after(other, &TaskTimes::start);
    }
    after(order_.stream_predecessor[index], &TaskTimes::end);
    after(order_.role_predecessor[index], &TaskTimes::end);
    return release;
  }

  const Program& whole_;
  std::span<const TaskTimes> times_;
  Interval window_;
  TaskOrder order_;
  std::vector<std::uint32_t> index_;  // by task of the whole: into kept_
  std::vector<Kept> kept_;
};

// Releases are tasks of their own, which end one after another on a stream of theirs.
void ProgramCutter::Take(std::uint8_t release_stream, Program& program,
                         std::vector<WindowGraph::Origin>& origins) {
  std::vector<Time> releases;
  for (const Kept& kept : kept_) {
    if (kept.release > Time()) releases.push_back(kept.release);
  }
  std::ranges::sort(releases);
  const auto repeats = std::ranges::unique(releases);
  releases.erase(repeats.begin(), repeats.end());
  const bool unordered = !kept_.empty() && kept_.front().task.unordered;
  const auto offset = static_cast<std::uint32_t>(releases.size());
  const auto depend = [&](std::uint32_t& count, std::uint32_t on) {
    program.dependencies.push_back(on);
    ++count;
  };
  for (std::uint32_t i = 0; i < offset; ++i) {
    Task task{.stream = release_stream, .unordered = unordered};
    task.duration = releases[i] - (i == 0 ? Time() : releases[i - 1]);
    task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    if (i > 0) depend(task.dependency_count, i - 1);
    program.tasks.push_back(task);
    origins.emplace_back();
  }
  for (Kept& kept : kept_) {
    const Task& whole = whole_.tasks[kept.index];
    Task task = kept.task;
    task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    task.dependency_count = task.start_dependency_count = 0;
    if (kept.release > Time()) {
      const auto release = std::ranges::lower_bound(releases, kept.release) - releases.begin();
      depend(task.dependency_count, static_cast<std::uint32_t>(release));
    }
    if (times_[kept.index].start > window_.begin) {
      for (const std::uint32_t other : whole_.dependencies_of(whole)) {
        if (index_[other] != kNone) depend(task.dependency_count, offset + index_[other]);
      }
      for (const std::uint32_t other : whole_.start_dependencies_of(whole)) {
        if (index_[other] != kNone) depend(task.start_dependency_count, offset + index_[other]);
      }
    }
    program.tasks.push_back(task);
    origins.push_back({.task = kept.index, .cut = kept.cut});
  }
}

}  // namespace

WindowGraph::WindowGraph(const TaskGraph& whole, const Folding& folding)
    : DerivedGraph(whole),
      program_of_(folding.simulated_rank),
      programs_(folding.ranks.size()),
      origins_(folding.ranks.size()),
      choices_(whole.collectives().begin(), whole.collectives().end()),
      streams_(whole.streams().begin(), whole.streams().end()) {
  streams_.emplace_back("release");
}

WindowCutter::WindowCutter(const TaskGraph& graph, const FlowRun& run, const MatchedTasks& matched)
    : graph_(graph),
      run_(run),
      arrivals_(graph, run.problem(), run.folding(), run.runner()),
      matched_(matched) {}

Interval WindowCutter::MovementOf(const Task& task, std::uint32_t communicator,
                                  std::size_t execution) {
  const LastArrivals::Execution& whole = arrivals_.Of(communicator)[execution];
  const Primitive primitive = graph_.collectives()[task.collective].spec.primitive;
  const Time begin = NeedsEveryMember(primitive) ? whole.last : whole.first;
  return {std::min(begin, whole.end), whole.end};
}

std::vector<Interval> WindowCutter::Movements(std::uint32_t simulated) {
  const RankId rank = run_.folding().ranks[simulated];
  const FlowProblem::Rank& whole = run_.problem().ranks[Index(rank)];
  const ProgramShape& shape = run_.problem().shapes[whole.program];
  const std::vector<Task>& tasks = graph_.program(whole.program).tasks;
  const auto times = run_.runner().times(simulated);
  std::vector<std::size_t> executions(shape.ports.size());  // so far
  std::vector<Interval> movements;
  movements.reserve(tasks.size());
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    Interval movement{times[i].start, times[i].end};
    if (tasks[i].kind == TaskKind::kCollective) {
      const std::uint32_t seat = whole.first_seat + shape.slot[i];
      movement = MovementOf(tasks[i], run_.problem().seats[seat].communicator,
                            executions[shape.slot[i]]++);
    } else if (tasks[i].kind == TaskKind::kReceive) {
      const auto [sender, send] = matched_.SendOf(rank, i);
      movement = {run_.times(sender)[send].start, run_.times(sender)[send].end};
    }
    movements.push_back(movement);
  }
  return movements;
}

Interval WindowCutter::SpanOf(std::span<const PacketWindow::TaskRange> tasks) {
  Interval span{Time::Max(), Time()};
  const Folding& folding = run_.folding();
  for (std::uint32_t rank = 0; rank < folding.ranks.size(); ++rank) {
    const std::uint32_t program = run_.problem().ranks[Index(folding.ranks[rank])].program;
    std::vector<Interval> movements;
    for (const PacketWindow::TaskRange& range : tasks) {
      if (range.program != program) continue;
      if (movements.empty()) movements = Movements(rank);
      for (std::uint32_t i = range.first; i <= range.last; ++i) {
        span.begin = std::min(span.begin, movements[i].begin);
        span.end = std::max(span.end, movements[i].end);
      }
    }
  }
  return span;
}

void WindowCutter::CutProgram(std::uint32_t rank, Interval window, WindowGraph& cut) {
  const RankId whole = run_.folding().ranks[rank];
  const Program& program = graph_.program(run_.problem().ranks[Index(whole)].program);
  const auto times = run_.runner().times(rank);
  const std::vector<Interval> movements = Movements(rank);
  ProgramCutter cutter(program, times, window);
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    const Interval moving = movements[i];
    if (!Overlaps(moving, window)) continue;
    Task task = program.tasks[i];
    bool crosses = Crosses(moving, window);
    if (task.kind == TaskKind::kCompute) {
      task.duration = moving.end - std::max(moving.begin, window.begin);
      crosses = moving.begin < window.begin;
    } else {
      messages_ = true;
    }
    if (crosses && task.kind == TaskKind::kCollective) {
      const CollectiveSpec& spec = graph_.collectives()[task.collective].spec;
      const auto members =
          static_cast<std::int64_t>(graph_.members(graph_.communicator(whole, task.role)).size());
      crosses = spec.matrix.empty();  // AllToAllV goes whole
      if (crosses) {
        const Bytes part = PartOf(spec.bytes, moving, window, members * spec.element_bytes);
        task.collective = PartChoice(cut.choices_, task.collective, part);
      }
    } else if (crosses && task.kind != TaskKind::kCompute) {
      task.bytes = PartOf(task.bytes, moving, window, 1);
    }
    cutter.Keep(i, task, crosses);
  }
  const auto release_stream = static_cast<std::uint8_t>(cut.streams_.size() - 1);
  cutter.Take(release_stream, cut.programs_[rank], cut.origins_[rank]);
}

Result<WindowGraph> WindowCutter::Cut(Interval window) {
  WindowGraph cut(graph_, run_.folding());
  if (cut.streams_.size() > UINT8_MAX + 1) {
    return Error("TL1624", "a window of a graph with 256 streams",
                 "fewer streams: one more is needed for what the window waits for");
  }
  messages_ = false;
  for (std::uint32_t rank = 0; rank < cut.programs_.size(); ++rank) CutProgram(rank, window, cut);
  if (!messages_) {
    return Error("TL1624",
                 fmt::format("no message is under way from {} to {}", Humanize(window.begin),
                             Humanize(window.end)),
                 "choose a window in which something is sent: --out draws the step");
  }
  return cut;
}

}  // namespace trunkline
