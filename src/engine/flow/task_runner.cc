#include "engine/flow/task_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/collective/tuner.h"

namespace trunkline {
namespace {

constexpr Time kPending = Time::Picoseconds(-1);
// How many steps pass between two looks at the stop token.
constexpr std::uint64_t kPollInterval = 4096;

}  // namespace

TaskRunner::TaskRunner(const EngineInput& input, const EngineOptions& options,
                       const FlowProblem& problem, const Folding& folding,
                       const std::vector<char>& withdrawn, MessageCarrier* carrier)
    : input_(input),
      options_(options),
      carrier_(carrier),
      problem_(problem),
      folding_(folding),
      groups_(FindGroups(problem, folding)),
      model_{.connections = folding.connections,
             .hops = folding.hops,
             .capacities = folding.capacities,
             .message_overhead = input.transport.message_overhead,
             .handshake = options.handshake,
             .occupancy = &occupancy_,
             .carrier = carrier},
      interpreter_(model_),
      memo_(problem, folding, groups_, input.graph, model_, withdrawn, options.fold),
      planned_(problem, folding, groups_, memo_, occupancy_) {
  for (std::uint32_t rank = 0; rank < folding.ranks.size(); ++rank) AddRank(rank);
}

void TaskRunner::AddRank(std::uint32_t rank) {
  const FlowProblem::Rank& whole = problem_.ranks[Index(folding_.ranks[rank])];
  const ProgramShape& shape = problem_.shapes[whole.program];
  ranks_.push_back({.first_task = static_cast<std::uint32_t>(times_.size()),
                    .first_stream = static_cast<std::uint32_t>(streams_.size()),
                    .first_port = static_cast<std::uint32_t>(ports_.size()),
                    .first_missing = static_cast<std::uint32_t>(missing_.size()),
                    .first_peer_program = 0});
  times_.resize(times_.size() + shape.slot.size(), {Time(), Time(), kPending});
  if (Awaited(rank)) awaited_left_ = awaited_tasks_ += shape.slot.size();
  const std::vector<std::uint32_t>& missing = shape.waiters.missing();
  missing_.insert(missing_.end(), missing.begin(), missing.end());
  for (std::uint32_t task = 0; task < missing.size(); ++task) {
    if (missing[task] == 0) ready_tasks_.push_back({rank, task});
  }
  for (std::uint32_t stream = 0; stream < shape.streams.size(); ++stream) {
    streams_.emplace_back();
    ready_.push_back({rank, stream});
  }
  for (std::uint32_t port = 0; port < shape.ports.size(); ++port) {
    const FlowProblem::Seat& seat = problem_.seats[whole.first_seat + port];
    const std::uint32_t channels =
        problem_.patterns[problem_.communicators[seat.communicator].pattern].channels;
    const auto index = static_cast<std::uint32_t>(ports_.size());
    ports_.push_back(
        {.first_program = interpreter_.AddPrograms(channels), .running = 0, .end = {}});
    owners_.resize(owners_.size() + channels, {rank, index, kNone});
  }
  const auto peers = static_cast<std::uint32_t>(shape.sends.size() + shape.receives.size());
  ranks_.back().first_peer_program = interpreter_.AddPrograms(peers);
  owners_.resize(owners_.size() + peers, {rank, kNone, kNone});
}

Result<RunStatus> TaskRunner::Run() {
  for (std::uint64_t step = 0;; ++step) {
    if (step % kPollInterval == 0) {
      if (options_.stop != nullptr && options_.stop->stop_requested()) {
        return RunStatus::kInterrupted;
      }
      ReportProgress();
    }
    if (!Step(Time::Max())) break;
  }
  if (!to_withdraw().empty()) return RunStatus::kUnfinished;
  return Status();
}

bool TaskRunner::Step(Time end) {
  if (RunSomething()) return true;
  return to_withdraw().empty() && !IsOver() && !interpreter_.past_horizon() && AdvanceClock(end);
}

bool TaskRunner::IsOver() {
  // What is still under way of the awaited, acknowledgements say, belongs to the run.
  const bool only_others_left = awaited_left_ == 0 && awaited_tasks_ < times_.size();
  const bool others_count = carrier_ == nullptr && NextTime() <= awaited_end_;
  return only_others_left && !others_count;
}

Result<RunStatus> TaskRunner::Status() const {
  if (interpreter_.past_horizon()) {
    return Error("TL1602", "simulated time passes 100 days",
                 "look for a rate or a size that is off by orders of magnitude");
  }
  return awaited_left_ == 0 ? RunStatus::kFinished : RunStatus::kUnfinished;
}

Time TaskRunner::NextTime() {
  const Time next_compute = computes_.empty() ? Time::Max() : computes_.top().time;
  return std::min({next_compute, planned_.next_time(), interpreter_.next_time()});
}

// Lets time pass until the next thing happens. REQUIRES: nothing can run.
bool TaskRunner::AdvanceClock(Time end) {
  const auto disturbed =
      planned_.TakeDisturbed(std::exchange(occupancy_.disturbed, Occupancy::kNobody));
  if (!disturbed.empty()) {
    Execute(disturbed);
    return true;
  }
  const Time next_compute = computes_.empty() ? Time::Max() : computes_.top().time;
  const Time planned = planned_.next_time();
  if (planned != Time::Max() && planned <= next_compute &&
      (planned <= interpreter_.clock() || planned <= interpreter_.next_time())) {
    planned_.Advance();
    return true;
  }
  if (interpreter_.Advance(std::min(next_compute, end))) return true;
  if (next_compute > end) return false;
  if (StartCompute()) return true;
  if (end != Time::Max()) return false;
  // Who waits for whom shows in the programs.
  const auto waiting = planned_.TakeWaiting();
  Execute(waiting);
  return !waiting.empty();
}

// Executes collectives that went as planned until now.
void TaskRunner::Execute(const std::vector<PlannedCollectives::Starts>& collectives) {
  const Time now = std::max(interpreter_.clock(), planned_.clock());
  for (const PlannedCollectives::Starts& starts : collectives) {
    Time first = now;
    for (const PlannedCollectives::Start& start : starts) first = std::min(first, start.begin);
    interpreter_.BeginReplay(first, now);
    for (const PlannedCollectives::Start& start : starts) {
      StartPrograms(start.member, start.task, start.begin);
    }
    interpreter_.EndReplay();
    while (!interpreter_.finished().empty()) {
      const Interpreter::Finished finished = interpreter_.finished().back();
      interpreter_.finished().pop_back();
      TakeFinished(finished);
    }
  }
}

bool TaskRunner::RunSomething() {
  if (!planned_.ended().empty()) {
    const PlannedCollectives::End end = planned_.ended().back();
    planned_.ended().pop_back();
    End(groups_.members[end.member].rank, end.task, end.time);
    return true;
  }
  if (!interpreter_.finished().empty()) {
    const Interpreter::Finished finished = interpreter_.finished().back();
    interpreter_.finished().pop_back();
    TakeFinished(finished);
    return true;
  }
  if (!ready_.empty()) {
    const ReadyStream stream = ready_.back();
    ready_.pop_back();
    AdvanceStream(stream.rank, stream.stream);
    return true;
  }
  if (!ready_tasks_.empty()) {
    const ReadyTask ready = ready_tasks_.back();
    ready_tasks_.pop_back();
    StartUnordered(ready.rank, ready.task);
    return true;
  }
  return interpreter_.RunUntilFinished();
}

void TaskRunner::StartUnordered(std::uint32_t rank, std::uint32_t task) {
  std::uint32_t blocked_on = kNone;
  Time start = StartOf(rank, task, Time(), blocked_on);
  TL_CHECK(start >= Time(), "an unordered task starts too early", rank, task, blocked_on);
  const Program& program = program_of(rank);
  for (const std::uint32_t other : program.start_dependencies_of(program.tasks[task])) {
    start = std::max(start, At(rank, other).start);
  }
  if (program.tasks[task].kind == TaskKind::kCompute) {
    computes_.push({start, rank, task});
  } else {
    Launch(rank, task, start);
  }
}

bool TaskRunner::StartCompute() {
  if (computes_.empty()) return false;
  const auto [ready, rank, task] = computes_.top();
  computes_.pop();
  Stream& stream = streams_[ranks_[rank].first_stream + program_of(rank).tasks[task].stream];
  Launch(rank, task, std::max(ready, stream.free));
  stream.free = At(rank, task).end;
  return true;
}

// Tells unordered tasks that something which they wait for has happened.
void TaskRunner::Release(std::uint32_t rank, std::span<const std::uint32_t> waiters) {
  for (const std::uint32_t waiter : waiters) {
    if (--missing_[ranks_[rank].first_missing + waiter] == 0) {
      ready_tasks_.push_back({rank, waiter});
    }
  }
}

void TaskRunner::AdvanceStream(std::uint32_t rank, std::uint32_t index) {
  Stream& stream = streams_[ranks_[rank].first_stream + index];
  const std::vector<std::uint32_t>& tasks = shape_of(rank).streams[index];
  stream.blocked_on = kNone;
  for (; stream.next < tasks.size(); ++stream.next) {
    const std::uint32_t task = tasks[stream.next];
    TaskTimes& times = At(rank, task);
    if (Ended(times)) continue;  // it ended while the stream waited for it
    const Time stream_free = stream.next == 0 ? Time() : At(rank, tasks[stream.next - 1]).end;
    const Time start = StartOf(rank, task, stream_free, stream.blocked_on);
    if (start < Time()) return;
    Launch(rank, task, start);
    if (!Ended(times)) {
      stream.blocked_on = task;
      return;
    }
  }
}

Time TaskRunner::StartOf(std::uint32_t rank, std::uint32_t task, Time stream_free,
                         std::uint32_t& blocked_on) {
  Time start = stream_free;
  const auto after = [&](std::uint32_t dependency) {
    const TaskTimes& times = At(rank, dependency);
    if (!Ended(times)) {
      blocked_on = dependency;
      return false;
    }
    start = std::max(start, times.end);
    return true;
  };
  const Program& program = program_of(rank);
  for (const std::uint32_t dependency : program.dependencies_of(program.tasks[task])) {
    if (!after(dependency)) return kPending;
  }
  const std::uint32_t role = shape_of(rank).role_predecessor[task];
  if (role != ProgramShape::kNoSlot && !after(role)) return kPending;
  return start;
}

void TaskRunner::Launch(std::uint32_t rank, std::uint32_t index, Time start) {
  const Task& task = program_of(rank).tasks[index];
  const FlowProblem::Rank& whole = problem_.ranks[Index(folding_.ranks[rank])];
  const std::uint32_t slot = shape_of(rank).slot[index];
  At(rank, index).start = start;
  At(rank, index).sent = start;
  Release(rank, shape_of(rank).waiters.for_start_of(index));
  const auto connection = [&](std::uint32_t first) {
    return folding_.connection_class[problem_.peer_connections[first + slot]];
  };
  switch (task.kind) {
    case TaskKind::kCompute:
      End(rank, index, interpreter_.Later(start, task.duration));
      break;
    case TaskKind::kCollective:
      LaunchCollective(rank, index, start);
      break;
    case TaskKind::kSend: {
      const std::uint32_t program = ranks_[rank].first_peer_program + slot;
      owners_[program].task = index;
      interpreter_.StartSend(program, connection(whole.first_send), task.bytes, start);
      break;
    }
    case TaskKind::kReceive: {
      const auto sends = static_cast<std::uint32_t>(shape_of(rank).sends.size());
      const std::uint32_t program = ranks_[rank].first_peer_program + sends + slot;
      owners_[program].task = index;
      interpreter_.StartReceive(program, connection(whole.first_receive), start);
      break;
    }
  }
}

void TaskRunner::LaunchCollective(std::uint32_t rank, std::uint32_t index, Time start) {
  const std::uint32_t collective = program_of(rank).tasks[index].collective;
  const std::uint32_t slot = shape_of(rank).slot[index];
  const FlowProblem::Rank& whole = problem_.ranks[Index(folding_.ranks[rank])];
  const FlowProblem::Seat& seat = problem_.seats[whole.first_seat + slot];
  const FlowProblem::Communicator& communicator = problem_.communicators[seat.communicator];
  if (communicator.members.size() == 1) {
    End(rank, index, start);
    return;
  }
  const CollectiveChoice& choice = input_.graph.collectives()[collective];
  const Time begin =
      interpreter_.Later(start, BaseLatencyOf(choice.algorithm, choice.protocol, input_.transport));
  const std::uint32_t member = ranks_[rank].first_port + slot;
  if (!planned_.Join(member, index, collective, begin)) StartPrograms(member, index, begin);
}

void TaskRunner::StartPrograms(std::uint32_t index, std::uint32_t task, Time begin) {
  const CollectiveGroups::Member& member = groups_.members[index];
  const FlowProblem::Communicator& communicator = problem_.communicators[member.seat.communicator];
  const Pattern& pattern = problem_.patterns[communicator.pattern];
  const Schedule& schedule = pattern.schedule(program_of(member.rank).tasks[task].collective);
  const auto connections = std::span(folding_.connection_class)
                               .subspan(communicator.first_connection, pattern.pairs.size());
  Port& port = ports_[index];
  port.running = 0;
  port.end = begin;
  planned_.NoteExecuted(index, true);
  folding_.ForEachChannel(index, schedule.channels(), [&](std::uint32_t channel) {
    const std::uint32_t program = port.first_program + channel;
    owners_[program].task = task;
    ++port.running;
    interpreter_.Start(program,
                       {.schedule = &schedule,
                        .pattern = &pattern,
                        .connection_of = connections,
                        .position = member.seat.position,
                        .channel = channel,
                        .first_program = port.first_program},
                       begin);
  });
}

std::vector<Traffic> TaskRunner::AllTraffic() const {
  const auto executed = interpreter_.traffic();
  std::vector<Traffic> traffic(executed.begin(), executed.end());
  memo_.AddTraffic(traffic);
  return traffic;
}

FlowCounters TaskRunner::counters() const {
  FlowCounters counters;
  counters.solves = interpreter_.solves() + memo_.solves();
  counters.reuses = planned_.reuses();
  for (const Traffic& traffic : interpreter_.traffic()) {
    counters.transfers_simulated += traffic.transfers;
  }
  counters.transfers_simulated += memo_.transfers();
  if (folding_.folded) counters.fold_classes = folding_.ranks.size();
  return counters;
}

void TaskRunner::TakeFinished(const Interpreter::Finished& finished) {
  const Owner& owner = owners_[finished.program];
  if (owner.port == kNone) {
    if (program_of(owner.rank).tasks[owner.task].kind == TaskKind::kReceive) {
      At(owner.rank, owner.task).sent = finished.sent;
    }
    End(owner.rank, owner.task, finished.end);
    return;
  }
  Port& port = ports_[owner.port];
  port.end = std::max(port.end, finished.end);
  if (--port.running > 0) return;
  planned_.NoteExecuted(owner.port, false);
  // What ended before the collective was disturbed is known.
  if (!Ended(At(owner.rank, owner.task))) End(owner.rank, owner.task, port.end);
}

void TaskRunner::End(std::uint32_t rank, std::uint32_t task, Time end) {
  At(rank, task).end = end;
  if (Awaited(rank)) {
    --awaited_left_;
    awaited_end_ = std::max(awaited_end_, end);
  }
  Release(rank, shape_of(rank).waiters.for_end_of(task));
  const std::size_t count = shape_of(rank).streams.size();
  for (std::uint32_t stream = 0; stream < count; ++stream) {
    if (streams_[ranks_[rank].first_stream + stream].blocked_on == task) {
      ready_.push_back({rank, stream});
    }
  }
}

void TaskRunner::ReportProgress() {
  if (options_.progress == nullptr || awaited_tasks_ == 0) return;
  const auto ended = static_cast<double>(awaited_tasks_ - awaited_left_);
  options_.progress->Update(ended / static_cast<double>(awaited_tasks_), "simulating");
}

// Whom a program waits for: to send a message, or to take one of its own. The connection that it
// waits on stands for its whole class, so it tells nothing but which of the program's own it is.
RankId TaskRunner::PeerOf(std::uint32_t program, bool sends) const {
  const Owner& owner = owners_[program];
  if (owner.port == kNone) {
    return input_.graph.peer(folding_.ranks[owner.rank],
                             program_of(owner.rank).tasks[owner.task].role);
  }
  const FlowProblem::Seat& seat = groups_.members[owner.port].seat;
  const FlowProblem::Communicator& communicator = problem_.communicators[seat.communicator];
  const std::uint32_t channel = program - ports_[owner.port].first_program;
  const bool any_put = interpreter_.wait(program) == Interpreter::Wait::kTransfers;
  std::optional<RankId> peer;
  const auto look = [&](std::uint32_t index, std::uint32_t connection) {
    const Schedule::Pair& pair = problem_.patterns[communicator.pattern].pairs[index];
    const bool awaited = any_put ? interpreter_.has_outgoing(connection)
                                 : connection == interpreter_.waits_on(program);
    if (pair.channel != channel || !awaited) return;
    peer = communicator.members[sends ? pair.source : pair.destination];
  };
  sends ? ForEachInbound(problem_, folding_, seat, look)
        : ForEachOutbound(problem_, folding_, seat, look);
  TL_CHECK(peer.has_value(), "a program waits on a connection of others", program);
  return *peer;
}

void TaskRunner::DescribeWait(std::uint32_t program, BlockedTask& task) const {
  const auto peer = [&](bool sends) {
    task.peer = PeerOf(program, sends);
    return Index(*task.peer);
  };
  switch (interpreter_.wait(program)) {
    case Interpreter::Wait::kSignal:
      task.waits_for = fmt::format("a message from rank {}", peer(true));
      break;
    case Interpreter::Wait::kSlot:
      task.waits_for = fmt::format("rank {} to take earlier messages", peer(false));
      break;
    case Interpreter::Wait::kOwnSignal:
      task.waits_for = "another channel of its own";
      break;
    case Interpreter::Wait::kTransfers:
      task.waits_for = fmt::format("its message to rank {} to be taken or to arrive", peer(false));
      break;
    case Interpreter::Wait::kNothing:
      break;
  }
}

std::vector<BlockedTask> TaskRunner::Blocked() const {
  std::vector<BlockedTask> blocked;
  for (std::uint32_t program = 0; program < owners_.size(); ++program) {
    const Owner& owner = owners_[program];
    if (owner.task == kNone || Ended(times(owner.rank)[owner.task])) continue;
    if (!Awaited(owner.rank)) continue;
    BlockedTask task{.rank = folding_.ranks[owner.rank], .task = owner.task, .waits_for = {}};
    DescribeWait(program, task);
    if (!task.waits_for.empty()) blocked.push_back(std::move(task));
  }
  return blocked;
}

}  // namespace trunkline
