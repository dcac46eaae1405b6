#include "scenario/window.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "scenario/testing.h"
#include "trunkline/base/check.h"
#include "trunkline/scenario/run.h"
#include "trunkline/training/training.h"

// `packet.window` from a scenario to its result.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Two servers, two replicas of a model of 32 layers.
const std::vector<std::string> kSmall = {
    "cluster.nodes=2",
    "workload.training.model=" TRUNKLINE_SOURCE_DIR "/examples/models/llama-3.1-8b.json",
    "workload.training.parallel={tp: 8, pp: 1, dp: 2, zero: 1}",
    "workload.training.global_batch=4"};

Result<Scenario> ParseWindow(const std::vector<std::string>& keys) {
  std::vector<std::string> all(std::begin(kSmall), std::end(kSmall));
  all.insert(all.end(), keys.begin(), keys.end());
  return ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml", SetBy(all));
}

// Of reading or of running.
std::string Problem(const std::vector<std::string>& keys) {
  const auto scenario = ParseWindow(keys);
  if (!scenario) return Format(scenario.error().front());
  const auto result = RunScenario(*scenario);
  return result ? "none" : Format(result.error().front());
}

RunResult RunWindow(const std::vector<std::string>& keys) { return MustRun(ParseWindow(keys)); }

const WindowKind& KindOf(const RunResult& result, const std::string& name) {
  for (const WindowKind& kind : result.window->kinds) {
    const auto labels = result.training->graph->labels();
    if (labels[kind.label].name == name) return kind;
  }
  TL_CHECK(false, "no such communication in the window", name);
  return result.window->kinds.front();
}

TEST(Window, LeavesTheStepInFlowsAsItIs) {
  const RunResult without = RunWindow({});
  const RunResult with = RunWindow({"packet.window={layers: [0, 0]}"});
  EXPECT_EQ(without.window, nullptr);
  ASSERT_NE(with.window, nullptr);
  EXPECT_EQ(with.time, without.time);
  EXPECT_EQ(with.status, RunStatus::kFinished);
  EXPECT_LT(with.window->until, with.time);
}

// Gradients of two layers are 54 million parameters on a GPU: the first layer completes a bucket
// (of 40 million or more), which is reduced whole on all 16 ranks.
TEST(Window, OfALayerHasItsGradientBucketWhole) {
  const RunResult result = RunWindow({"packet.window={layers: [0, 0]}"});
  const WindowKind& buckets = KindOf(result, "dp reduce_scatter");
  EXPECT_EQ(buckets.tasks % 16, 0);
  EXPECT_GE(buckets.tasks - buckets.cut, 16);
  EXPECT_GT(result.window->packets.counters.packets.data, 0);
}

TEST(Window, OfANamedExecutionSpansIt) {
  const RunResult one = RunWindow({"packet.window={collectives: ['dp reduce_scatter#10']}"});
  const RunResult time = RunWindow({"packet.window={time: [" + Humanize(one.window->from) + ", " +
                                    Humanize(one.window->until) + "]}"});
  EXPECT_NEAR(time.window->from.seconds(), one.window->from.seconds(), 1e-3);
  EXPECT_GT(one.window->until, one.window->from);
}

TEST(Window, RefusesWhatTheStepDoesNotHaveAndSaysWhatItHas) {
  EXPECT_THAT(Problem({"packet.window={layers: [32, 32]}"}),
              AllOf(HasSubstr("[TL1213]"), HasSubstr("at most 31")));
  EXPECT_THAT(Problem({"packet.window={layers: [2, 1]}"}), HasSubstr("[TL1213]"));
  EXPECT_THAT(Problem({"packet.window={layers: [-1, 1]}"}), HasSubstr("[TL1108]"));
  EXPECT_THAT(Problem({"packet.window={collectives: [ep all_to_all]}"}),
              AllOf(HasSubstr("[TL1213]"), HasSubstr("dp reduce_scatter, ")));
  EXPECT_THAT(Problem({"packet.window={collectives: ['dp reduce_scatter#1000']}"}),
              HasSubstr("dp reduce_scatter#1' to"));
  EXPECT_THAT(Problem({"packet.window={collectives: ['dp reduce_scatter#x']}"}),
              HasSubstr("[TL1213]"));
  EXPECT_THAT(Problem({"packet.window={collectives: []}"}), HasSubstr("error"));
  EXPECT_THAT(Problem({"packet.window={time: [2 s, 1 s]}"}), HasSubstr("[TL1213]"));
  EXPECT_THAT(Problem({"packet.window={time: [1 h, 2 h]}"}),
              AllOf(HasSubstr("[TL1624]"), HasSubstr("the run ends at")));
  EXPECT_THAT(Problem({"packet.window={time: [1 s, 2 s], layers: [0, 0]}"}), HasSubstr("[TL1213]"));
  EXPECT_THAT(Problem({"packet.window={layer: 0}"}), HasSubstr("[TL1213]"));
}

TEST(Window, IsOfAStepOrTraceInFlowsOnly) {
  EXPECT_THAT(Problem({"packet.window={layers: [0, 0]}", "engine=packet"}),
              AllOf(HasSubstr("[TL1213]"), HasSubstr("engine: flow")));
  EXPECT_THAT(Problem({"packet.window={time: [1 s, 2 s]}",
                       "workload={collective: {primitive: all_reduce, size: 1 MiB}}"}),
              HasSubstr("[TL1213]"));
}

}  // namespace
}  // namespace trunkline
