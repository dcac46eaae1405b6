#include <gtest/gtest.h>

#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

TEST(SingleCollective, EveryRankRunsTheSameCollectivesOnOneCommunicator) {
  const CollectiveChoice choice{.spec = {.primitive = Primitive::kAllReduce, .bytes = Bytes(1024)},
                                .algorithm = "ring"};
  const auto graph = SingleCollective(choice, 5, 3);
  EXPECT_EQ(graph->ranks(), 5U);
  ASSERT_EQ(graph->program_count(), 1U);
  ASSERT_EQ(graph->program(0).tasks.size(), 3U);
  for (const Task& task : graph->program(0).tasks) {
    EXPECT_EQ(task.kind, TaskKind::kCollective);
    EXPECT_EQ(task.collective, 0U);
  }
  EXPECT_EQ(graph->collectives()[0].algorithm, "ring");
  EXPECT_EQ(graph->labels()[0].name, "all_reduce");
  EXPECT_EQ(graph->members(graph->communicator(RankId{4}, 0)),
            (std::vector<RankId>{RankId{0}, RankId{1}, RankId{2}, RankId{3}, RankId{4}}));
}

}  // namespace
}  // namespace trunkline
