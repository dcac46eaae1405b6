#include "workload/jobs_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/repeated_graph.h"
#include "workload/traffic/message_graph.h"

namespace trunkline {
namespace {

using testing::ElementsAre;

CollectiveChoice AllReduce(std::int64_t bytes) {
  CollectiveChoice choice;
  choice.spec.bytes = Bytes(bytes);
  return choice;
}

TEST(JobsGraph, NumbersRanksCollectivesAndCommunicatorsJobByJob) {
  const auto first = SingleCollective(AllReduce(100), 3);
  const auto second = SingleCollective(AllReduce(200), 2);
  const JobsGraph all({{.graph = first.get()}, {.graph = second.get(), .awaited = false}});
  EXPECT_EQ(all.ranks(), 5U);
  EXPECT_EQ(all.first_rank(1), RankId{3});
  EXPECT_EQ(all.job_of(RankId{2}), 0U);
  EXPECT_EQ(all.job_of(RankId{3}), 1U);
  EXPECT_TRUE(all.awaited(RankId{2}));
  EXPECT_FALSE(all.awaited(RankId{3}));
  EXPECT_EQ(all.communicator_count(), 2U);
  const CommunicatorId other = all.communicator(RankId{4}, 0);
  EXPECT_EQ(other, CommunicatorId{1});
  EXPECT_EQ(all.in_job(other), CommunicatorId{0});
  EXPECT_THAT(all.members(other), ElementsAre(RankId{3}, RankId{4}));
  const Task& task = all.program(all.program_of(RankId{4})).tasks.front();
  EXPECT_EQ(all.collectives()[task.collective].spec.bytes, Bytes(200));
  EXPECT_EQ(all.streams().size(), 1U);  // both have the same
}

TEST(RepeatedGraph, HoldsAProgramBackAndRunsItAgainWhenAllOfItHasEnded) {
  const auto once = SingleCollective(AllReduce(100), 2, 2);
  const RepeatedGraph graph(*once, Time::Microseconds(5), 2);
  const Program& program = graph.program(0);
  ASSERT_EQ(program.tasks.size(), 6U);  // a gate and two collectives, twice
  EXPECT_EQ(program.tasks[0].kind, TaskKind::kCompute);
  EXPECT_EQ(program.tasks[0].duration, Time::Microseconds(5));
  EXPECT_THAT(program.dependencies_of(program.tasks[1]), ElementsAre(0));
  EXPECT_EQ(program.tasks[3].duration, Time());
  EXPECT_THAT(program.dependencies_of(program.tasks[3]), ElementsAre(1, 2));
  EXPECT_THAT(program.dependencies_of(program.tasks[5]), ElementsAre(3));
  EXPECT_EQ(graph.labels()[program.tasks[3].label].name, kIdleLabel);
}

TEST(MessageGraph, PostsEachMessageAtItsTimeWhateverTheirOrder) {
  TrafficWorkload traffic;
  traffic.ranks = 2;
  for (const std::int64_t us : {7, 2}) {
    TrafficFlow flow;
    flow.destination = RankId{1};
    flow.bytes = Bytes(us);
    flow.start = Time::Microseconds(us);
    traffic.flows.push_back(flow);
  }
  const MessageGraph graph(traffic);
  const Program& sender = graph.program(0);
  ASSERT_EQ(sender.tasks.size(), 4U);
  EXPECT_EQ(sender.tasks[0].duration, Time::Microseconds(2));
  EXPECT_EQ(sender.tasks[1].bytes, Bytes(2));
  EXPECT_THAT(sender.dependencies_of(sender.tasks[1]), ElementsAre(0));
  EXPECT_EQ(sender.tasks[2].duration, Time::Microseconds(5));
  EXPECT_THAT(sender.dependencies_of(sender.tasks[2]), ElementsAre(0));
  EXPECT_EQ(sender.tasks[3].bytes, Bytes(7));
  EXPECT_EQ(graph.peer(RankId{0}, sender.tasks[3].role), RankId{1});
  EXPECT_EQ(graph.peer(RankId{1}, sender.tasks[3].role), RankId{0});
}

}  // namespace
}  // namespace trunkline
