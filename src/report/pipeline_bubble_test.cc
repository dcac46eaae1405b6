#include "report/pipeline_bubble.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <string>

#include "report/advice.h"
#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct Shape {
  int stages;  // a multiple of 8, a server's GPUs
  int chunks;
  int micro_batches;
  int recompute = 0;  // 1: full
};

// A step whose stages are equal, with next to no embedding and head, on a network that is next to
// free.
RunResult StepOf(const Shape& shape) {
  // Each test is a process of its own, beside others.
  const std::string model =
      ::testing::TempDir() + fmt::format("pipeline_bubble_test_{}.json", getpid());
  std::ofstream(model) << R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
      "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 128, "max_position_embeddings": 8192})";
  const std::string text = fmt::format(
      "cluster: {{node: dgx-h100, nodes: {}, transport: {{kind: ideal}},"
      " fabric: {{kind: single-switch, link: 10 Tb/s}}}}\n"
      "workload: {{training: {{model: {}, parallel: {{pp: {}, schedule: interleaved, vp: {}}},"
      " micro_batch: 1, global_batch: {}, sequence: 8192, recompute: {}}}}}\n"
      "engine: flow\n",
      shape.stages / 8, model, shape.stages, shape.chunks, shape.micro_batches,
      shape.recompute != 0 ? "full" : "none");
  auto scenario = ParseScenario(text, "s.yaml");
  EXPECT_TRUE(scenario) << Format(scenario.error().front());
  if (!scenario) return {};
  auto result = RunScenario(*scenario);
  EXPECT_TRUE(result) << Format(result.error().front());
  return result ? *std::move(result) : RunResult{};
}

double Measured(const RunResult& result) {
  return result.iteration->bubble.seconds() / result.iteration->time.seconds();
}

// The engine knows no formula of the schedule. Transfers and the optimizer are what is left.
TEST(PipelineBubbleOf, IsWhatTheEngineMeasuresWithCompleteAndIncompleteGroups) {
  for (const Shape& shape :
       {Shape{8, 4, 17}, Shape{8, 4, 12, 1}, Shape{8, 4, 24}, Shape{8, 2, 9}, Shape{8, 2, 5},
        Shape{8, 4, 3, 1}, Shape{8, 2, 8}, Shape{16, 2, 20}, Shape{16, 2, 47}}) {
    const RunResult result = StepOf(shape);
    ASSERT_TRUE(result.training);
    const double share = PipelineBubbleOf(*result.training, shape.micro_batches).share();
    EXPECT_NEAR(Measured(result), share, 0.01)
        << shape.stages << ' ' << shape.chunks << ' ' << shape.micro_batches;
  }
}

TEST(Advice, NamesMultiplesOfTheStagesWhoseBubbleIsAsItSays) {
  const RunResult result = StepOf({8, 4, 17});
  const std::vector<std::string> advice = AdviceOf(result);
  EXPECT_THAT(advice, Contains(HasSubstr("the last group of micro-batches has 1 of 8")));
  EXPECT_THAT(advice, Not(Contains(HasSubstr("twice as many"))));
  std::smatch found;
  const std::regex form(
      R"(global_batch (\d+), a multiple of pp micro-batches, makes that ([\d.]+) %, (\d+) makes it ([\d.]+) %)");
  int matches = 0;
  for (const std::string& text : advice) {
    if (!std::regex_search(text, found, form)) continue;
    ++matches;
    for (const int at : {1, 3}) {
      const int batch = std::stoi(found[at]);
      EXPECT_EQ(batch, at == 1 ? 24 : 16);
      EXPECT_NEAR(Measured(StepOf({8, 4, batch})), std::stod(found[at + 1]) / 100, 0.01);
    }
  }
  EXPECT_EQ(matches, 1);
}

}  // namespace
}  // namespace trunkline
