#include <gtest/gtest.h>

#include "engine/flow/test_inputs.h"

namespace trunkline {
namespace {

Task Compute(std::int64_t us) {
  return {.kind = TaskKind::kCompute, .unordered = true, .duration = Time::Microseconds(us)};
}
Task Message(TaskKind kind, std::uint32_t role, std::int64_t bytes) {
  return {.kind = kind, .role = role, .unordered = true, .bytes = Bytes(bytes)};
}

void Add(Program& program, Task task, const std::vector<std::uint32_t>& after = {},
         const std::vector<std::uint32_t>& with = {}) {
  task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
  task.dependency_count = static_cast<std::uint32_t>(after.size());
  task.start_dependency_count = static_cast<std::uint32_t>(with.size());
  program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
  program.dependencies.insert(program.dependencies.end(), with.begin(), with.end());
  program.tasks.push_back(task);
}

// Two hosts on a switch, 50 GB/s and 1 us apart, that exchange messages by roles 0, 1, ….
class UnorderedTasks : public testing::Test {
 protected:
  Timeline Run(Program first, Program second) {
    graph_.programs = {std::move(first), std::move(second)};
    graph_.program_index = {0, 1};
    for (std::uint32_t role = 0; role < 4; ++role) {
      graph_.peers[{0, role}] = 1;
      graph_.peers[{1, role}] = 0;
      graph_.reverse_roles[role] = role;
    }
    FlowCase star{.fabric = Star(2, {CableSpec{}})};
    star.options.record = {RankId(0), RankId(1)};
    return star.Run(graph_);
  }
  static const TaskSpan& SpanOf(const Timeline& timeline, std::uint32_t rank, std::uint32_t task) {
    for (const TaskSpan& span : timeline.spans) {
      if (span.rank == RankId(rank) && span.task == task) return span;
    }
    ADD_FAILURE() << "no span of task " << task << " of rank " << rank;
    return timeline.spans.front();
  }

 private:
  HandGraph graph_;
};

TEST_F(UnorderedTasks, DoNotHoldUpThoseBehindThem) {
  // Rank 0 first lists a send that waits for rank 1's answer to its second send.
  Program first;
  Add(first, Message(TaskKind::kReceive, 1, 50'000));
  Add(first, Message(TaskKind::kSend, 0, 50'000), {0});
  Add(first, Message(TaskKind::kSend, 2, 50'000));
  Program second;
  Add(second, Message(TaskKind::kReceive, 0, 50'000));
  Add(second, Message(TaskKind::kReceive, 2, 50'000));
  Add(second, Message(TaskKind::kSend, 1, 50'000), {1});
  const Timeline timeline = Run(first, second);
  EXPECT_EQ(timeline.status, RunStatus::kFinished);
  EXPECT_EQ(timeline.end, Time::Microseconds(6));  // three messages of 1 us, 1 us away, in a row
}

TEST_F(UnorderedTasks, ComputeOneAtATimeInTheOrderOfReadiness) {
  // Ready at 5, 2 and 0 us: they run at 7, 4 and 0 us.
  Program first;
  Add(first, Message(TaskKind::kReceive, 0, 150'000));  // 4 us
  Add(first, Message(TaskKind::kReceive, 1, 50'000));   // 2 us when it has the link alone
  Add(first, Compute(4));
  Add(first, Compute(3), {1});
  Add(first, Compute(2), {0});
  Program second;
  Add(second, Message(TaskKind::kSend, 1, 50'000));
  Add(second, Message(TaskKind::kSend, 0, 150'000), {0});
  const Timeline timeline = Run(first, second);
  EXPECT_EQ(SpanOf(timeline, 0, 2).start, Time());
  EXPECT_EQ(SpanOf(timeline, 0, 1).end, Time::Microseconds(2));
  EXPECT_EQ(SpanOf(timeline, 0, 3).start, Time::Microseconds(4));
  EXPECT_EQ(SpanOf(timeline, 0, 0).end, Time::Microseconds(5));
  EXPECT_EQ(SpanOf(timeline, 0, 4).start, Time::Microseconds(7));
  EXPECT_EQ(timeline.end, Time::Microseconds(9));
}

TEST_F(UnorderedTasks, StartWithWhatTheyMustNotPrecede) {
  Program first;
  Add(first, Compute(5));
  Task other = Compute(7);
  other.stream = 1;
  Add(first, other, {0});
  Add(first, Message(TaskKind::kSend, 0, 50'000), {}, {1});
  Program second;
  Add(second, Message(TaskKind::kReceive, 0, 50'000));
  const Timeline timeline = Run(first, second);
  EXPECT_EQ(SpanOf(timeline, 0, 1).start, Time::Microseconds(5));
  EXPECT_EQ(SpanOf(timeline, 0, 2).start, Time::Microseconds(5));
  EXPECT_EQ(SpanOf(timeline, 1, 0).end, Time::Microseconds(7));
}

}  // namespace
}  // namespace trunkline
