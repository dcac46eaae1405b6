#include "engine/analytic/step_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace trunkline {
namespace {

// `time` + `delay`, unless that is past the horizon of simulated time.
Result<Time> Later(Time time, Time delay) {
  if (delay < Time::Horizon() - time) return time + delay;
  return Error("TL1602", "simulated time passes 100 days",
               "look for a rate or a size that is off by orders of magnitude");
}

// The element at an index up to which the table grows.
template <typename T>
T& At(std::vector<T>& table, std::uint32_t index) {
  if (index >= table.size()) table.resize(index + 1U);
  return table[index];
}

}  // namespace

StepRun::Shape::Shape(const Program& program) : order(program), ordinal(program.tasks.size(), 0) {
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    const std::uint8_t stream = program.tasks[i].stream;
    if (stream >= streams.size()) streams.resize(stream + 1U);
    streams[stream].push_back(i);
    const std::uint32_t before = order.role_predecessor[i];
    if (before != TaskOrder::kNone) ordinal[i] = ordinal[before] + 1;
  }
}

StepRun::StepRun(const EngineInput& input, const EngineOptions& options, StepCosts& costs,
                 const std::vector<RankId>& ranks)
    : input_(input), options_(options), costs_(costs) {
  std::map<std::uint32_t, std::uint32_t> shape_of_program;
  shapes_.reserve(std::min<std::size_t>(ranks.size(), input.graph.program_count()));
  for (const RankId id : ranks) {
    const std::uint32_t program = input.graph.program_of(id);
    const auto [shape, added] =
        shape_of_program.try_emplace(program, static_cast<std::uint32_t>(shapes_.size()));
    if (added) shapes_.emplace_back(input.graph.program(program));
    index_of_.emplace(id, static_cast<std::uint32_t>(ranks_.size()));

    Rank rank;
    rank.id = id;
    rank.program = &input.graph.program(program);
    rank.times.assign(rank.program->tasks.size(), {.start = {}, .sent = {}, .end = kUnknown});
    ranks_.push_back(std::move(rank));
    State state;
    state.shape = shape->second;
    state.cursor.resize(shapes_[state.shape].streams.size());
    state.entered.resize(state.cursor.size());
    states_.push_back(std::move(state));
  }
}

Result<RunStatus> StepRun::Run() {
  if (auto prepared = Prepare(); !prepared) return std::unexpected(prepared.error());
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) Wake(rank);
  while (!queue_.empty()) {
    if (options_.stop != nullptr && options_.stop->stop_requested()) {
      return RunStatus::kInterrupted;
    }
    const std::uint32_t rank = queue_.front();
    queue_.pop_front();
    states_[rank].queued = false;
    if (auto ran = RunRank(rank); !ran) return std::unexpected(ran.error());
  }
  return Blocked().empty() ? RunStatus::kFinished : RunStatus::kUnfinished;
}

// Finds the partners of every role that a representative uses.
Result<void> StepRun::Prepare() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const Shape& shape = shapes_[states_[rank].shape];
    const std::vector<Task>& tasks = ranks_[rank].program->tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (shape.ordinal[i] > 0) continue;  // the role is known
      Result<void> done;
      if (tasks[i].kind == TaskKind::kSend) done = OpenChannel(rank, tasks[i].role);
      if (tasks[i].kind == TaskKind::kReceive) AwaitChannel(rank, tasks[i].role);
      if (tasks[i].kind == TaskKind::kCollective) done = JoinGroup(rank, tasks[i].role);
      if (!done) return done;
    }
  }
  return {};
}

std::uint32_t StepRun::ChannelOf(RankId source, std::uint32_t role) {
  const auto next = static_cast<std::uint32_t>(channels_.size());
  const auto [known, added] = channel_of_.try_emplace({source, role}, next);
  if (added) channels_.emplace_back();
  return known->second;
}

Result<void> StepRun::OpenChannel(std::uint32_t rank, std::uint32_t role) {
  const RankId source = ranks_[rank].id;
  const RankId destination = input_.graph.peer(source, role);
  auto cost = costs_.Peer(source, role);
  if (!cost) return std::unexpected(cost.error());
  const std::uint32_t index = ChannelOf(source, role);
  channels_[index].cost = *cost;
  channels_[index].receiver = index_of_.at(destination);
  At(states_[rank].sends, role) = index;
  return {};
}

void StepRun::AwaitChannel(std::uint32_t rank, std::uint32_t role) {
  const RankId receiver = ranks_[rank].id;
  At(states_[rank].receives, role) =
      ChannelOf(input_.graph.peer(receiver, role), input_.graph.sender_role(receiver, role));
}

Result<void> StepRun::JoinGroup(std::uint32_t rank, std::uint32_t role) {
  const auto group = costs_.Group(ranks_[rank].id, role);
  if (!group) return std::unexpected(group.error());
  At(ranks_[rank].groups, role) = *group;
  std::vector<std::uint32_t>& present = At(meetings_, *group).ranks;
  if (std::ranges::find(present, rank) == present.end()) present.push_back(rank);
  return {};
}

void StepRun::Wake(std::uint32_t rank) {
  if (std::exchange(states_[rank].queued, true)) return;
  queue_.push_back(rank);
}

// Runs every stream as far as it can, until none can go on.
Result<void> StepRun::RunRank(std::uint32_t rank) {
  const Shape& shape = shapes_[states_[rank].shape];
  State& state = states_[rank];
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stream = 0; stream < shape.streams.size(); ++stream) {
      while (state.cursor[stream] < shape.streams[stream].size()) {
        const std::uint32_t task = shape.streams[stream][state.cursor[stream]];
        const auto progress = RunTask(rank, task, static_cast<std::uint8_t>(stream));
        if (!progress) return std::unexpected(progress.error());
        if (*progress == Progress::kBlocked) break;
        ++state.cursor[stream];
        state.entered[stream] = false;
        ++tasks_run_;
        moved = true;
      }
    }
  }
  return {};
}

Time StepRun::ReadyTime(std::uint32_t rank, std::uint32_t task) const {
  const Rank& self = ranks_[rank];
  const TaskOrder& order = shapes_[states_[rank].shape].order;
  Time ready;
  const auto after = [&](std::uint32_t other) { ready = std::max(ready, self.times[other].end); };
  for (const std::uint32_t before :
       {order.stream_predecessor[task], order.role_predecessor[task]}) {
    if (before != TaskOrder::kNone) after(before);
  }
  for (const std::uint32_t dependency : self.program->dependencies_of(self.program->tasks[task])) {
    after(dependency);
  }
  return ready;
}

Result<StepRun::Progress> StepRun::RunTask(std::uint32_t rank, std::uint32_t task,
                                           std::uint8_t stream) {
  const Time ready = ReadyTime(rank, task);
  if (ready == kUnknown) return Progress::kBlocked;
  const Task& what = ranks_[rank].program->tasks[task];
  switch (what.kind) {
    case TaskKind::kCompute: {
      const auto end = Later(ready, what.duration);
      if (!end) return std::unexpected(end.error());
      ranks_[rank].times[task] = {.start = ready, .sent = ready, .end = *end};
      return Progress::kDone;
    }
    case TaskKind::kSend:
      return Send(rank, task, ready);
    case TaskKind::kReceive:
      return Receive(rank, task, ready);
    case TaskKind::kCollective:
      return Meet(rank, task, ready, stream);
  }
  TL_CHECK(false, "unknown task kind", static_cast<int>(what.kind));
  return Progress::kBlocked;
}

Result<StepRun::Progress> StepRun::Send(std::uint32_t rank, std::uint32_t task, Time ready) {
  const Task& what = ranks_[rank].program->tasks[task];
  Channel& channel = channels_[states_[rank].sends[what.role]];
  const auto end = Later(ready, channel.cost.Busy(what.bytes));
  if (!end) return std::unexpected(end.error());
  const auto arrival = Later(*end, channel.cost.latency);
  if (!arrival) return std::unexpected(arrival.error());
  ranks_[rank].times[task] = {.start = ready, .sent = ready, .end = *end};
  channel.messages.push_back({.sent = ready, .arrival = *arrival});
  Wake(channel.receiver);
  return Progress::kDone;
}

StepRun::Progress StepRun::Receive(std::uint32_t rank, std::uint32_t task, Time ready) {
  const State& state = states_[rank];
  const std::uint32_t ordinal = shapes_[state.shape].ordinal[task];
  const Channel& channel = channels_[state.receives[ranks_[rank].program->tasks[task].role]];
  if (ordinal >= channel.messages.size()) return Progress::kBlocked;
  const Message& message = channel.messages[ordinal];
  ranks_[rank].times[task] = {
      .start = ready, .sent = message.sent, .end = std::max(ready, message.arrival)};
  return Progress::kDone;
}

Result<StepRun::Progress> StepRun::Meet(std::uint32_t rank, std::uint32_t task, Time ready,
                                        std::uint8_t stream) {
  const Task& what = ranks_[rank].program->tasks[task];
  const std::uint32_t group = ranks_[rank].groups[what.role];
  Meetings& meetings = meetings_[group];
  const std::uint32_t ordinal = shapes_[states_[rank].shape].ordinal[task];
  if (ordinal >= meetings.executions.size()) meetings.executions.resize(ordinal + 1);
  Meeting& meeting = meetings.executions[ordinal];
  if (!states_[rank].entered[stream]) {
    states_[rank].entered[stream] = true;
    ranks_[rank].times[task].start = ready;
    ranks_[rank].times[task].sent = ready;
    meeting.start = std::max(meeting.start, ready);
    if (++meeting.arrived == meetings.ranks.size()) {
      const auto time = costs_.Collective(group, what.collective);
      if (!time) return std::unexpected(time.error());
      const auto end = Later(meeting.start, *time);
      if (!end) return std::unexpected(end.error());
      meeting.end = *end;
      for (const std::uint32_t other : meetings.ranks) {
        if (other != rank) Wake(other);
      }
    }
  }
  if (meeting.end == kUnknown) return Progress::kBlocked;
  TaskTimes& times = ranks_[rank].times[task];
  times.end = meeting.end;
  const CollectiveChoice& choice = input_.graph.collectives()[what.collective];
  times.sent = SentOf(choice.spec.primitive, times, meeting.start);
  return Progress::kDone;
}

std::vector<BlockedTask> StepRun::Blocked() const {
  std::vector<BlockedTask> blocked;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const Shape& shape = shapes_[states_[rank].shape];
    for (std::size_t stream = 0; stream < shape.streams.size(); ++stream) {
      const std::size_t cursor = states_[rank].cursor[stream];
      if (cursor == shape.streams[stream].size()) continue;
      const std::uint32_t task = shape.streams[stream][cursor];
      blocked.push_back({.rank = ranks_[rank].id, .task = task, .waits_for = WaitsFor(rank, task)});
    }
  }
  return blocked;
}

std::string StepRun::WaitsFor(std::uint32_t rank, std::uint32_t task) const {
  const Rank& self = ranks_[rank];
  const Task& what = self.program->tasks[task];
  const TaskOrder& order = shapes_[states_[rank].shape].order;
  if (ReadyTime(rank, task) == kUnknown) {
    for (const std::uint32_t dependency : self.program->dependencies_of(what)) {
      if (self.times[dependency].end == kUnknown) return fmt::format("its task {}", dependency);
    }
    return fmt::format("its task {}", order.role_predecessor[task]);
  }
  if (what.kind == TaskKind::kReceive) {
    return fmt::format("a message from rank {}", Index(input_.graph.peer(self.id, what.role)));
  }
  const Meetings& meetings = meetings_[self.groups[what.role]];
  return fmt::format("{} of {} members of its communicator",
                     meetings.ranks.size() -
                         meetings.executions[shapes_[states_[rank].shape].ordinal[task]].arrived,
                     meetings.ranks.size());
}

}  // namespace trunkline
