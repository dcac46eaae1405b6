#include "engine/coupled/window_delay.h"

#include <algorithm>
#include <tuple>

#include "trunkline/collective/primitive.h"

namespace trunkline {

WindowDelays::WindowDelays(const TaskGraph& graph, const FlowRun& run, const MatchedTasks& matched,
                           Time from)
    : graph_(graph), run_(run), matched_(matched), from_(from) {
  for (std::uint32_t i = 0; i < graph.program_count(); ++i) orders_.emplace_back(graph.program(i));
  for (std::uint32_t rank = 0; rank < run.folding().ranks.size(); ++rank) {
    delays_.emplace_back(program_of(rank).tasks.size(), kFree);
    std::vector<Time>& starts = starts_.emplace_back();
    std::vector<Time>& ends = ends_.emplace_back();
    for (const TaskTimes& times : run.runner().times(rank)) {
      starts.push_back(times.start);
      ends.push_back(times.end);
    }
  }
}

void WindowDelays::Add(RankId rank, const std::vector<Delay>& delays) {
  std::vector<Time>& worst = delays_[run_.folding().simulated_rank[Index(rank)]];
  for (const Delay& delay : delays) {
    worst[delay.task] = std::max({worst[delay.task], delay.time, Time()});
  }
}

Time WindowDelays::StartOf(std::uint32_t rank, std::uint32_t index) const {
  const Program& program = program_of(rank);
  const Task& task = program.tasks[index];
  const TaskOrder& order = orders_[run_.problem().ranks[Index(run_.folding().ranks[rank])].program];
  Time start = Was(rank, index).start;
  for (const std::uint32_t other : program.dependencies_of(task)) {
    start = std::max(start, ends_[rank][other]);
  }
  for (const std::uint32_t other : program.start_dependencies_of(task)) {
    start = std::max(start, starts_[rank][other]);
  }
  for (const std::uint32_t other :
       {order.stream_predecessor[index], order.role_predecessor[index]}) {
    if (other != TaskOrder::kNone) start = std::max(start, ends_[rank][other]);
  }
  return start;
}

Time WindowDelays::LatenessOfMembers(std::uint32_t rank, std::uint32_t index) const {
  const RankId whole = run_.folding().ranks[rank];
  const std::uint32_t program = graph_.program_of(whole);
  const Task& task = graph_.program(program).tasks[index];
  const bool every = NeedsEveryMember(graph_.collectives()[task.collective].spec.primitive);
  const CommunicatorId communicator = graph_.communicator(whole, task.role);
  Time latest;
  Time was_latest;
  Time lateness;
  for (const RankId member : graph_.members(communicator)) {
    const std::uint32_t other = run_.folding().simulated_rank[Index(member)];
    const std::uint32_t own =
        matched_.CollectiveOf(member, communicator, matched_.ordinal(program, index));
    const Time was = Was(other, own).start;
    if (was > Was(rank, index).end) continue;
    const Time start = starts_[other][own];
    latest = std::max(latest, start);
    was_latest = std::max(was_latest, was);
    lateness = std::max(lateness, start - was);
  }
  return every ? latest - was_latest : lateness;
}

Time WindowDelays::EndOf(std::uint32_t rank, std::uint32_t index) const {
  const TaskTimes& was = Was(rank, index);
  if (delays_[rank][index] != kFree) return was.end + delays_[rank][index];
  const Time start = starts_[rank][index];
  switch (program_of(rank).tasks[index].kind) {
    case TaskKind::kCompute:
    case TaskKind::kSend:
      break;
    case TaskKind::kCollective:
      return std::max(start, was.end + LatenessOfMembers(rank, index));
    case TaskKind::kReceive: {
      const auto [sender, send] = matched_.SendOf(run_.folding().ranks[rank], index);
      const std::uint32_t other = run_.folding().simulated_rank[Index(sender)];
      // An early message waited for the receive.
      const Time arrival = was.end > was.start ? was.end : Was(other, send).end;
      return std::max(start, arrival + Lateness(other, send));
    }
  }
  return start + (was.end - was.start);
}

Time WindowDelays::OfTheEnd() {
  // What a task waits for has happened before it, or at once: an earlier task of its program.
  struct Moment {
    Time time;
    std::uint32_t task = 0;
    bool is_end = false;
    std::uint32_t rank = 0;
  };
  std::vector<Moment> order;
  Time was_end;
  for (std::uint32_t rank = 0; rank < ends_.size(); ++rank) {
    for (std::uint32_t task = 0; task < ends_[rank].size(); ++task) {
      const TaskTimes& was = Was(rank, task);
      was_end = std::max(was_end, was.end);
      if (was.end <= from_) continue;
      order.push_back({was.start, task, false, rank});
      order.push_back({was.end, task, true, rank});
    }
  }
  std::ranges::sort(order, {}, [](const Moment& moment) {
    return std::tuple(moment.time, moment.task, moment.is_end, moment.rank);
  });
  Time end = was_end;
  for (const auto& [time, task, is_end, rank] : order) {
    if (is_end) {
      ends_[rank][task] = EndOf(rank, task);
      end = std::max(end, ends_[rank][task]);
    } else {
      starts_[rank][task] = StartOf(rank, task);
    }
  }
  return end - was_end;
}

}  // namespace trunkline
