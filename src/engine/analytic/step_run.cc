#include "engine/analytic/step_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace trunkline {
namespace {

// The element at an index up to which the table grows.
template <typename T>
T& At(std::vector<T>& table, std::uint32_t index) {
  if (index >= table.size()) table.resize(index + 1U);
  return table[index];
}

}  // namespace

StepRun::Shape::Shape(const Program& program) {
  struct Last {
    std::uint32_t task = 0;
    std::uint32_t before = 0;  // how many came before the next
  };
  std::array<std::vector<Last>, 4> last_of_role;  // by TaskKind
  const auto count = static_cast<std::uint32_t>(program.tasks.size());
  ordinal.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Task& task = program.tasks[i];
    if (task.stream >= streams.size()) streams.resize(task.stream + 1U);
    streams[task.stream].push_back(i);
    if (task.kind == TaskKind::kCompute) continue;
    Last& last = At(last_of_role[static_cast<std::size_t>(task.kind)], task.role);
    ordinal[i] = last.before++;
    if (ordinal[i] == 0) {
      firsts.push_back(i);
    } else if (program.tasks[last.task].stream != task.stream) {
      elsewhere.resize(count, kNone);
      elsewhere[i] = last.task;
    }
    last.task = i;
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
    state.streams.resize(shapes_[state.shape].streams.size());
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
    if (RunRank(rank) == Progress::kFailed) return std::unexpected(std::move(failure_));
  }
  return Blocked().empty() ? RunStatus::kFinished : RunStatus::kUnfinished;
}

// Finds the partners of every role that a representative uses.
Result<void> StepRun::Prepare() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    for (const std::uint32_t first : shapes_[states_[rank].shape].firsts) {
      const Task& task = ranks_[rank].program->tasks[first];
      Result<void> done;
      if (task.kind == TaskKind::kSend) done = OpenChannel(rank, task.role);
      if (task.kind == TaskKind::kReceive) AwaitChannel(rank, task.role);
      if (task.kind == TaskKind::kCollective) done = JoinGroup(rank, task.role);
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
  At(collective_time_, *group).resize(input_.graph.collectives().size(), kUnknown);
  return {};
}

void StepRun::Wake(std::uint32_t rank) {
  if (std::exchange(states_[rank].queued, true)) return;
  queue_.push_back(rank);
}

// Runs what can be run of a rank. Its program lists what a task follows before the task, so what
// needs no other rank is run in one pass; where that comes to a task that waits for another rank,
// every stream goes on as far as it can.
StepRun::Progress StepRun::RunRank(std::uint32_t rank) {
  const Progress progress = RunInOrder(rank);
  if (progress != Progress::kBlocked) return progress;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stream = 0; stream < states_[rank].streams.size(); ++stream) {
      const Progress went = RunStream(rank, static_cast<std::uint8_t>(stream), moved);
      if (went == Progress::kFailed) return went;
    }
  }
  return Progress::kBlocked;
}

StepRun::Progress StepRun::RunInOrder(std::uint32_t rank) {
  State& state = states_[rank];
  const std::vector<TaskTimes>& times = ranks_[rank].times;
  for (; state.next < times.size(); ++state.next) {
    if (times[state.next].end != kUnknown) continue;  // its stream has gone ahead
    const Progress progress = RunTask(rank, state.next);
    if (progress != Progress::kDone) return progress;
  }
  return Progress::kDone;
}

StepRun::Progress StepRun::RunStream(std::uint32_t rank, std::uint8_t stream, bool& moved) {
  const std::vector<std::uint32_t>& tasks = shapes_[states_[rank].shape].streams[stream];
  for (const Stream& at = states_[rank].streams[stream]; at.cursor < tasks.size();) {
    const Progress progress = RunTask(rank, tasks[at.cursor]);
    if (progress != Progress::kDone) return progress;
    moved = true;
  }
  return Progress::kDone;
}

// REQUIRES: it is the next task of its stream.
Time StepRun::ReadyTime(std::uint32_t rank, std::uint32_t task) const {
  const Rank& self = ranks_[rank];
  const State& state = states_[rank];
  const Shape& shape = shapes_[state.shape];
  const Task& what = self.program->tasks[task];
  Time ready = state.streams[what.stream].end;
  if (!shape.elsewhere.empty() && shape.elsewhere[task] != kNone) {
    ready = std::max(ready, self.times[shape.elsewhere[task]].end);
  }
  for (const std::uint32_t dependency : self.program->dependencies_of(what)) {
    ready = std::max(ready, self.times[dependency].end);
  }
  return ready;
}

StepRun::Progress StepRun::RunTask(std::uint32_t rank, std::uint32_t task) {
  const Turn turn{rank, task, ranks_[rank].program->tasks[task], ReadyTime(rank, task)};
  if (turn.ready == kUnknown) return Progress::kBlocked;
  TaskTimes& times = ranks_[rank].times[task];
  Progress progress = Progress::kDone;
  switch (turn.what.kind) {
    case TaskKind::kCompute:
      times = {
          .start = turn.ready, .sent = turn.ready, .end = Later(turn.ready, turn.what.duration)};
      if (times.end == kUnknown) return Progress::kFailed;
      break;
    case TaskKind::kSend:
      progress = Send(turn);
      break;
    case TaskKind::kReceive:
      progress = Receive(turn);
      break;
    case TaskKind::kCollective:
      progress = Meet(turn);
      break;
  }
  if (progress != Progress::kDone) return progress;
  Stream& stream = states_[rank].streams[turn.what.stream];
  ++stream.cursor;
  stream.end = times.end;
  stream.entered = false;
  ++tasks_run_;
  return progress;
}

Time StepRun::Later(Time time, Time delay) {
  if (delay < Time::Horizon() - time) return time + delay;
  failure_ = Error("TL1602", "simulated time passes 100 days",
                   "look for a rate or a size that is off by orders of magnitude")
                 .error();
  return kUnknown;
}

StepRun::Progress StepRun::Send(const Turn& turn) {
  Channel& channel = channels_[states_[turn.rank].sends[turn.what.role]];
  const Time end = Later(turn.ready, channel.cost.Busy(turn.what.bytes));
  if (end == kUnknown) return Progress::kFailed;
  const Time arrival = Later(end, channel.cost.latency);
  if (arrival == kUnknown) return Progress::kFailed;
  ranks_[turn.rank].times[turn.task] = {.start = turn.ready, .sent = turn.ready, .end = end};
  channel.messages.push_back({.sent = turn.ready, .arrival = arrival});
  Wake(channel.receiver);
  return Progress::kDone;
}

StepRun::Progress StepRun::Receive(const Turn& turn) {
  const State& state = states_[turn.rank];
  const std::uint32_t ordinal = shapes_[state.shape].ordinal[turn.task];
  const Channel& channel = channels_[state.receives[turn.what.role]];
  if (ordinal >= channel.messages.size()) return Progress::kBlocked;
  const Message& message = channel.messages[ordinal];
  ranks_[turn.rank].times[turn.task] = {
      .start = turn.ready, .sent = message.sent, .end = std::max(turn.ready, message.arrival)};
  return Progress::kDone;
}

Time StepRun::TimeOf(std::uint32_t group, std::uint32_t collective) {
  Time& known = collective_time_[group][collective];
  if (known != kUnknown) return known;
  const auto time = costs_.Collective(group, collective);
  if (time) return known = *time;
  failure_ = time.error();
  return kUnknown;
}

// Nobody else represents the other members.
StepRun::Progress StepRun::MeetAlone(const Turn& turn, std::uint32_t group) {
  const Time time = TimeOf(group, turn.what.collective);
  if (time == kUnknown) return Progress::kFailed;
  const Time end = Later(turn.ready, time);
  if (end == kUnknown) return Progress::kFailed;
  ranks_[turn.rank].times[turn.task] = {.start = turn.ready, .sent = turn.ready, .end = end};
  return Progress::kDone;
}

StepRun::Progress StepRun::Meet(const Turn& turn) {
  const std::uint32_t group = ranks_[turn.rank].groups[turn.what.role];
  Meetings& meetings = meetings_[group];
  if (meetings.ranks.size() == 1) return MeetAlone(turn, group);
  const std::uint32_t ordinal = shapes_[states_[turn.rank].shape].ordinal[turn.task];
  Meeting& meeting = At(meetings.executions, ordinal);
  TaskTimes& times = ranks_[turn.rank].times[turn.task];
  bool& entered = states_[turn.rank].streams[turn.what.stream].entered;
  if (!std::exchange(entered, true)) {
    times.start = turn.ready;
    times.sent = turn.ready;
    meeting.start = std::max(meeting.start, turn.ready);
    if (++meeting.arrived == meetings.ranks.size()) {
      const Time time = TimeOf(group, turn.what.collective);
      if (time == kUnknown) return Progress::kFailed;
      meeting.end = Later(meeting.start, time);
      if (meeting.end == kUnknown) return Progress::kFailed;
      for (const std::uint32_t other : meetings.ranks) {
        if (other != turn.rank) Wake(other);
      }
    }
  }
  if (meeting.end == kUnknown) return Progress::kBlocked;
  times.end = meeting.end;
  const CollectiveChoice& choice = input_.graph.collectives()[turn.what.collective];
  times.sent = SentOf(choice.spec.primitive, times, meeting.start);
  return Progress::kDone;
}

std::vector<BlockedTask> StepRun::Blocked() const {
  std::vector<BlockedTask> blocked;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const Shape& shape = shapes_[states_[rank].shape];
    for (std::size_t stream = 0; stream < shape.streams.size(); ++stream) {
      const std::size_t cursor = states_[rank].streams[stream].cursor;
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
  if (ReadyTime(rank, task) == kUnknown) {
    for (const std::uint32_t dependency : self.program->dependencies_of(what)) {
      if (self.times[dependency].end == kUnknown) return fmt::format("its task {}", dependency);
    }
    return fmt::format("its task {}", shapes_[states_[rank].shape].elsewhere[task]);
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
