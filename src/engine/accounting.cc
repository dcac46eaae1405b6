#include "engine/accounting.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/intervals.h"
#include "engine/task_order.h"

namespace trunkline {
namespace {

template <typename Select>
IntervalUnion UnionOf(const Program& program, std::span<const TaskTimes> times, Select select) {
  std::vector<BusyInterval> intervals;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (const auto interval = select(program.tasks[i], times[i])) intervals.push_back(*interval);
  }
  return IntervalUnion(std::move(intervals));
}

IntervalUnion ComputeTime(const Program& program, std::span<const TaskTimes> times) {
  return UnionOf(program, times, [](const Task& task, const TaskTimes& t) {
    return task.kind == TaskKind::kCompute ? std::optional(BusyInterval{t.start, t.end})
                                           : std::nullopt;
  });
}

IntervalUnion CommunicationTime(const Program& program, std::span<const TaskTimes> times) {
  return UnionOf(program, times, [](const Task& task, const TaskTimes& t) {
    return task.kind != TaskKind::kCompute ? std::optional(BusyInterval{t.sent, t.end})
                                           : std::nullopt;
  });
}

// Splits the idle time of one rank's compute stream into exposed communication and bubbles.
class IdleTime {
 public:
  IdleTime(const Program& program, std::span<const TaskTimes> times)
      : program_(program), times_(times), order_(program) {}

  // Attributes [from, until], at whose end `task` started.
  void AttributeWaitOf(std::uint32_t task, Time from, Time until) {
    AttributeChain(LastPrerequisite(task), from, until);
  }

  // Attributes [from, until] to `task`, then to what it waited for, and so on back to `from`.
  void AttributeChain(std::uint32_t task, Time from, Time until) {
    for (; task != kNone && until > from; task = LastPrerequisite(task)) {
      const TaskTimes& t = times_[task];
      until = std::max(from, std::min(until, t.end));
      const Time start = std::clamp(t.start, from, until);
      if (program_.tasks[task].kind != TaskKind::kCompute) {
        const Time sent = std::clamp(t.sent, start, until);
        exposed_ += until - sent;
        bubble_ += sent - start;
      }
      until = start;
    }
  }

  [[nodiscard]] Time exposed() const { return exposed_; }
  [[nodiscard]] Time bubble() const { return bubble_; }

 private:
  static constexpr std::uint32_t kNone = TaskOrder::kNone;

  // The predecessor or dependency that finished last: what `task` really waited for.
  [[nodiscard]] std::uint32_t LastPrerequisite(std::uint32_t task) const {
    std::uint32_t last = order_.stream_predecessor[task];
    const auto consider = [&](std::uint32_t other) {
      if (last == kNone || times_[other].end > times_[last].end) last = other;
    };
    if (order_.role_predecessor[task] != kNone) consider(order_.role_predecessor[task]);
    for (const std::uint32_t dependency : program_.dependencies_of(program_.tasks[task])) {
      consider(dependency);
    }
    return last;
  }

  const Program& program_;
  std::span<const TaskTimes> times_;
  TaskOrder order_;
  Time exposed_;
  Time bubble_;
};

}  // namespace

Time SentOf(Primitive primitive, const TaskTimes& times, Time last_arrival) {
  const bool waited = NeedsEveryMember(primitive) && last_arrival <= times.end;
  return waited ? std::max(times.start, last_arrival) : times.start;
}

RankSummary AccountRank(RankId rank, const Program& program, std::span<const TaskTimes> times,
                        Time step_end) {
  TL_CHECK(times.size() == program.tasks.size(), times.size(), program.tasks.size());
  std::vector<std::uint32_t> compute_tasks;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    if (program.tasks[i].kind == TaskKind::kCompute) compute_tasks.push_back(i);
    if (times[i].end > times[last].end) last = i;
  }
  const auto start = [&](std::uint32_t i) { return times[i].start; };
  if (!std::ranges::is_sorted(compute_tasks, {}, start)) {
    std::ranges::sort(compute_tasks, {}, start);
  }

  IdleTime idle(program, times);
  Time covered;
  for (const std::uint32_t task : compute_tasks) {
    if (times[task].start > covered) idle.AttributeWaitOf(task, covered, times[task].start);
    covered = std::max(covered, times[task].end);
  }
  RankSummary summary;
  summary.rank = rank;
  if (!times.empty()) {
    summary.finish = times[last].end;
    idle.AttributeChain(last, covered, summary.finish);
  }
  TL_CHECK(summary.finish <= step_end, summary.finish.ps(), step_end.ps());
  summary.compute = ComputeTime(program, times).length();
  summary.exposed_communication = idle.exposed();
  summary.bubble = idle.bubble();
  summary.other = step_end - summary.compute - summary.exposed_communication - summary.bubble;
  TL_CHECK(summary.other >= Time(), summary.other.ps(), "parts exceed the step");
  summary.communication = CommunicationTime(program, times).length();
  return summary;
}

namespace {

auto Of(const Task& task) {
  return [&](const CollectiveSummary& summary) {
    return summary.collective == task.collective && summary.role == task.role;
  };
}

}  // namespace

std::vector<CollectiveSummary> AccountCollectives(const Program& program,
                                                  std::span<const TaskTimes> times) {
  const IntervalUnion compute = ComputeTime(program, times);
  std::vector<CollectiveSummary> summaries;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Task& task = program.tasks[i];
    if (task.kind != TaskKind::kCollective) continue;
    auto found = std::ranges::find_if(summaries, Of(task));
    if (found == summaries.end()) {
      found = summaries.emplace(summaries.end());
      found->collective = task.collective;
      found->role = task.role;
    }
    const auto [start, sent, end] = times[i];
    const Time hidden = compute.LengthBefore(end) - compute.LengthBefore(sent);
    ++found->count;
    found->total += end - start;
    found->waiting += sent - start;
    found->exposed += end - sent - hidden;
  }
  std::ranges::sort(summaries, {},
                    [](const CollectiveSummary& s) { return std::pair(s.collective, s.role); });
  return summaries;
}

void TimeCollectives(const Program& program, std::span<const TaskTimes> times,
                     std::span<CollectiveSummary> summaries) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Task& task = program.tasks[i];
    if (task.kind != TaskKind::kCollective) continue;
    CollectiveSummary& summary = *std::ranges::find_if(summaries, Of(task));
    const Time moving = times[i].end - times[i].sent;
    if (moving < summary.bound) continue;
    ++summary.timed_count;
    summary.timed += moving;
  }
}

}  // namespace trunkline
