#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Runs every rank of a graph: compute takes its duration, communication none. Collectives meet all
// members, messages match first in, first out.
class GraphRunner {
 public:
  explicit GraphRunner(const TaskGraph& graph) : graph_(graph), state_(graph.ranks()) {}

  // The time at which the last task ends. Notes a failure when ranks wait for each other for ever.
  Time Run() {
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) {
      const Program& program = ProgramOf(rank);
      state_[rank].end.resize(program.tasks.size(), kNotDone);
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) progress |= Advance(rank);
    }
    Time last;
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) {
      for (std::size_t i = 0; i < state_[rank].end.size(); ++i) {
        EXPECT_NE(state_[rank].end[i], kNotDone) << "rank " << rank << " task " << i << " hangs";
        last = std::max(last, state_[rank].end[i]);
        if (::testing::Test::HasFailure()) return last;
      }
    }
    EXPECT_TRUE(
        messages_.empty() ||
        std::ranges::all_of(messages_, [](const auto& entry) { return entry.second.empty(); }))
        << "a message is never received";
    return last;
  }

 private:
  static constexpr Time kNotDone = Time::Picoseconds(-1);
  using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, role

  struct RankState {
    std::vector<Time> end;
    std::map<std::uint8_t, std::size_t> next;  // by stream: how many of its tasks are done
    std::map<std::uint8_t, Time> free;
    std::map<std::uint32_t, std::size_t> entered;  // by role: collectives entered
  };
  struct Meeting {
    std::set<std::uint32_t> members;
    std::uint32_t collective = 0;
    Time start;
  };
  struct Message {
    Time sent;
    Bytes bytes;
  };

  const Program& ProgramOf(std::uint32_t rank) const {
    return graph_.program(graph_.program_of(RankId{rank}));
  }

  bool Advance(std::uint32_t rank) {
    const Program& program = ProgramOf(rank);
    RankState& state = state_[rank];
    bool progress = false;
    std::map<std::uint8_t, bool> blocked;
    for (std::size_t i = 0; i < program.tasks.size(); ++i) {
      const Task& task = program.tasks[i];
      if (state.end[i] != kNotDone) continue;
      if (blocked[task.stream]) continue;
      Time start = state.free[task.stream];
      bool ready = true;
      for (const std::uint32_t dependency : program.dependencies_of(task)) {
        EXPECT_LT(dependency, i) << "dependencies point backwards";
        ready &= state.end[dependency] != kNotDone;
        start = std::max(start, state.end[dependency]);
      }
      const Time end = ready ? Finish(rank, task, start) : kNotDone;
      if (end == kNotDone) {
        blocked[task.stream] = true;
        continue;
      }
      state.end[i] = end;
      state.free[task.stream] = end;
      progress = true;
    }
    return progress;
  }

  Time Finish(std::uint32_t rank, const Task& task, Time start) {
    switch (task.kind) {
      case TaskKind::kCompute:
        return start + task.duration;
      case TaskKind::kCollective:
        return Meet(rank, task, start);
      case TaskKind::kSend: {
        const auto to = static_cast<std::uint32_t>(graph_.peer(RankId{rank}, task.role));
        messages_[{rank, to, task.role}].push_back({start, task.bytes});
        return start;
      }
      case TaskKind::kReceive: {
        const auto from = static_cast<std::uint32_t>(graph_.peer(RankId{rank}, task.role));
        auto& queue = messages_[{from, rank, graph_.reverse_role(task.role)}];
        if (queue.empty()) return kNotDone;
        const Message message = queue.front();
        queue.pop_front();
        EXPECT_EQ(message.bytes, task.bytes);
        return std::max(start, message.sent);
      }
    }
    return kNotDone;
  }

  // The n-th collective of a communicator: done when every member has entered it.
  Time Meet(std::uint32_t rank, const Task& task, Time start) {
    const CommunicatorId communicator = graph_.communicator(RankId{rank}, task.role);
    std::size_t& entered = state_[rank].entered[task.role];
    Meeting& meeting = meetings_[{Index(communicator), entered}];
    if (meeting.members.empty()) meeting.collective = task.collective;
    EXPECT_EQ(meeting.collective, task.collective) << "members disagree on a collective";
    meeting.members.insert(rank);
    meeting.start = std::max(meeting.start, start);
    if (meeting.members.size() < graph_.members(communicator).size()) return kNotDone;
    ++entered;
    return meeting.start;
  }

  const TaskGraph& graph_;
  std::vector<RankState> state_;
  std::map<std::pair<std::size_t, std::size_t>, Meeting> meetings_;
  std::map<Channel, std::deque<Message>> messages_;
};

}  // namespace trunkline
