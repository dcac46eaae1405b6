#include <gmock/gmock.h>

#include <string>

#include "trunkline/scenario/scenario.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

Diagnostics ProblemsOf(const std::string& assignment) {
  const Assignment assignments[] = {{.text = assignment, .label = "--set 1"}};
  const auto scenario =
      ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml", assignments);
  EXPECT_FALSE(scenario) << assignment;
  return scenario ? Diagnostics() : scenario.error();
}

// Cutting the model for its endpoints would lead nowhere.
TEST(ReadTraining, SaysOfServersWithoutAcceleratorsNothingElse) {
  const Diagnostics problems = ProblemsOf("cluster.node=host");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().code, "TL1208");
  EXPECT_EQ(problems.front().where.file, "--set 1");
}

TEST(ReadTraining, NamesTheBatchAndTheNumberOfNodesThatWork) {
  const Diagnostics problems = ProblemsOf("cluster.nodes=60");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems.front().hint, HasSubstr("global_batch 510 does with tp 8 x pp 4 x dp 15; "
                                               "64 nodes do with tp 8 x pp 4 x dp 16"));
}

}  // namespace
}  // namespace trunkline
