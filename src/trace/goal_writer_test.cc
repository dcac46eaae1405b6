#include <gtest/gtest.h>

#include <sstream>

#include "engine/flow/test_inputs.h"
#include "trunkline/trace/goal.h"

namespace trunkline {
namespace {

TEST(WriteGoal, KeepsTheTimeOfACollective) {
  for (const char* algorithm : {"ring", "halving_doubling", "double_binary_tree", "hierarchical"}) {
    // 3 channels of 8 chunks: even, and with elements left over.
    for (const auto& [bytes, channels] :
         {std::pair(6'000'000, 1U), std::pair(6'000'000, 3U), std::pair(6'000'007, 3U)}) {
      const CollectiveChoice choice = Choose(Primitive::kAllReduce, bytes, algorithm, channels);
      const auto schedule = MakeSchedule(algorithm, choice.spec, GroupLayout::Flat(8));
      ASSERT_TRUE(schedule) << Format(schedule.error().front());
      std::ostringstream text;
      const auto written = WriteGoal(**schedule, text);
      ASSERT_TRUE(written) << algorithm << Format(written.error().front());
      const auto trace = ParseGoal(text.str(), "written.goal");
      ASSERT_TRUE(trace) << algorithm << Format(trace.error().front());
      const FlowCase star{.fabric = Star(8, {CableSpec{}})};
      const Timeline goal = star.Run(*trace->graph);
      const Timeline own = star.Run(*SingleCollective(choice, 8));
      EXPECT_EQ(goal.status, RunStatus::kFinished);
      // A message that begins apart from the one before it is rounded to picoseconds by itself.
      EXPECT_NEAR(static_cast<double>((goal.end - own.end).ps()), 0, 4) << algorithm;
      EXPECT_EQ(goal.flow.transfers_represented, own.flow.transfers_represented) << algorithm;
    }
  }
}

TEST(WriteGoal, RefusesWhatSwitchesDo) {
  const CollectiveChoice choice = Choose(Primitive::kAllReduce, 1024, "sharp");
  const auto schedule = MakeSchedule("sharp", choice.spec, GroupLayout::Grid(4, 2));
  ASSERT_TRUE(schedule) << Format(schedule.error().front());
  std::ostringstream text;
  const auto written = WriteGoal(**schedule, text);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().front().code, "TL1735");
}

}  // namespace
}  // namespace trunkline
