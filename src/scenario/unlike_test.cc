// Fabrics, servers and faults under which pairs that sit alike do not fare alike: there the
// analytic engine follows every cable, and meets the flow engine.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "trunkline/scenario/run.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {
namespace {

double SecondsOf(const std::string& text, const std::string& engine) {
  const auto scenario = ParseScenario(text + "engine: " + engine + "\n", "test.yaml", {});
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : Format(scenario.error().front()));
  if (!scenario) return 0;
  const auto result = RunScenario(*scenario);
  EXPECT_TRUE(result.has_value()) << (result ? "" : Format(result.error().front()));
  return result ? result->time.seconds() : 0;
}

// How many warnings of TL1622 say that.
std::ptrdiff_t CountOf(const RunResult& result, std::string_view words) {
  return std::ranges::count_if(result.warnings, [&](const Diagnostic& warning) {
    return warning.code == "TL1622" && warning.message.contains(words);
  });
}

std::string Rings(const std::string& cluster, const std::string& faults = "") {
  return fmt::format(
      "cluster: {{{}}}\n{}"
      "workload: {{collective: {{primitive: all_reduce, size: 256 MiB, "
      "algorithm: ring, protocol: simple}}}}\n",
      cluster, faults);
}

TEST(Unlike, FabricsTakeWhatTheFlowEngineSays) {
  for (const char* fabric : {"torus:sizes=[4,2]", "dragonfly:h=2", "full-mesh:switches=8",
                             "dragonfly-plus:h=4", "slim-fly:q=5"}) {
    const std::string text = Rings(fmt::format("node: dgx-h100, nodes: 8, fabric: \"{}\"", fabric));
    const double flow = SecondsOf(text, "flow");
    EXPECT_NEAR(SecondsOf(text, "analytic"), flow, 0.02 * flow) << fabric;
  }
}

TEST(Unlike, ServersTakeWhatTheFlowEngineSays) {
  for (const char* node : {"hgx-pcie", "mi300x"}) {
    for (const int nodes : {1, 2, 6}) {
      const std::string text = Rings(fmt::format("node: {}, nodes: {}", node, nodes));
      const double flow = SecondsOf(text, "flow");
      EXPECT_NEAR(SecondsOf(text, "analytic"), flow, 0.05 * flow) << node << ' ' << nodes;
    }
  }
}

TEST(Unlike, FaultsTakeWhatTheFlowEngineSays) {
  for (const char* faults :
       {"{target: nic:2/5, kind: degrade, value: 25%}", "{target: leaf-1/spine-0, kind: fail}",
        "{target: leaf-0/spine-1, kind: degrade, value: 50 Gb/s}"}) {
    const std::string text =
        Rings("node: dgx-h100, nodes: 4, fabric: {kind: clos, radix: 16, link: 400 Gb/s}",
              fmt::format("faults: [{}]\n", faults));
    const double flow = SecondsOf(text, "flow");
    EXPECT_NEAR(SecondsOf(text, "analytic"), flow, 0.05 * flow) << faults;
  }
}

std::string Step(const std::string& cluster, const std::string& faults = "") {
  // Each test is a process of its own, beside others.
  const std::string model = ::testing::TempDir() + fmt::format("unlike_test_{}.json", getpid());
  std::ofstream(model) << R"({"model_type": "llama", "num_hidden_layers": 8, "hidden_size": 4096,
    "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 32000, "max_position_embeddings": 4096})";
  return fmt::format(R"(cluster: {{{}}}
faults: [{}]
workload:
  training:
    model: {}
    parallel: {{tp: 4, pp: 2, dp: 8}}
    micro_batch: 1
    global_batch: 32
    sequence: 4096
)",
                     cluster, faults, model);
}

// Ranks that run one program are represented by one of them; a slow cable need not be its own.
TEST(Unlike, CablesSlowAStepWhereverTheyAre) {
  const auto step = [&](const char* faults) {
    return SecondsOf(Step("node: dgx-h100, nodes: 8, fabric: rail-optimized", faults), "analytic");
  };
  const double healthy = step("");
  const double first = step("{target: nic:0/0, kind: degrade, value: 10%}");
  EXPECT_GT(first, 1.1 * healthy);
  EXPECT_NEAR(step("{target: nic:3/2, kind: degrade, value: 10%}"), first, 1e-3 * first);
}

// Data-parallel groups of all tensor-parallel ranks cross the same cables.
TEST(Unlike, GroupsSideBySideTakeWhatTheFlowEngineSays) {
  for (const char* cluster :
       {"node: dgx-h100, nodes: 8, fabric: {kind: dragonfly, p: 4, a: 4, h: 2}",
        "node: dgx-h100, nodes: 8, fabric: {kind: torus, sizes: [4, 2]}",
        "node: hgx-pcie, nodes: 8, fabric: single-switch"}) {
    const double flow = SecondsOf(Step(cluster), "flow");
    EXPECT_NEAR(SecondsOf(Step(cluster), "analytic"), flow, 0.04 * flow) << cluster;
  }
}

// Stages side by side: their groups share the cables between switches.
TEST(Unlike, SaysWhereStagesMayShareLinks) {
  const std::string packed = "node: dgx-h100, nodes: 8, fabric: {kind: torus, sizes: [4, 2]}";
  for (const auto& [key, warns] :
       {std::pair("", 0), std::pair("workload.training.parallel.order=pp-dp-cp-tp", 1),
        std::pair("cluster.placement=random", 1)}) {
    std::vector<Assignment> assignments;
    if (*key != '\0') assignments.push_back({key, "--set"});
    const auto scenario =
        ParseScenario(Step(packed) + "engine: analytic\n", "test.yaml", assignments);
    ASSERT_TRUE(scenario.has_value()) << key;
    const auto result = RunScenario(*scenario);
    ASSERT_TRUE(result.has_value()) << key;
    EXPECT_EQ(CountOf(*result, "groups of several stages or kinds"), warns) << key;
    EXPECT_EQ(CountOf(*result, "groups of tp and of dp cross the same NICs"), warns) << key;
    EXPECT_EQ(CountOf(*result, ""), 2 * warns) << key;
  }
}

// At random, few groups of four ranks share a server.
TEST(Unlike, SaysWhereGroupsOfOneKindLieDifferently) {
  const char* cluster =
      "node: dgx-h100, nodes: 8, placement: random, fabric: {kind: clos, radix: 16, link: 400 "
      "Gb/s, "
      "oversubscription: 3}";
  const auto scenario = ParseScenario(Step(cluster) + "engine: analytic\n", "test.yaml", {});
  ASSERT_TRUE(scenario.has_value());
  const auto result = RunScenario(*scenario);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(CountOf(*result, "groups of one kind lie differently"), 1);
  EXPECT_EQ(CountOf(*result, "groups of tp and of dp cross the same NICs"), 1);
  EXPECT_EQ(CountOf(*result, ""), 2);
  EXPECT_GE(result->time, result->bound);
}

// By rails, tensor-parallel groups leave their servers by the NICs of the data-parallel ones, and
// ZeRO-2 reduces gradients while the backward pass goes on. Packed, only the latter leave.
TEST(Unlike, SaysWhereGroupsOfTwoKindsMeetOnNics) {
  for (const auto& [placement, meet] : {std::pair("by-rail", true), std::pair("packed", false)}) {
    std::string text = Step(
        fmt::format("node: dgx-h100, nodes: 8, fabric: single-switch, placement: {}", placement));
    text.replace(text.find("pp: 2, dp: 8"), 12, "pp: 1, dp: 16, zero: 2");
    const auto scenario = ParseScenario(text + "engine: analytic\n", "test.yaml", {});
    ASSERT_TRUE(scenario.has_value()) << Format(scenario.error().front());
    const auto result = RunScenario(*scenario);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(CountOf(*result, "groups of tp and of dp"), meet ? 1 : 0) << placement;
    EXPECT_EQ(CountOf(*result, ""), meet ? 1 : 0) << placement;
    const double flow = SecondsOf(text, "flow");
    if (meet) EXPECT_LT(result->time.seconds(), 0.95 * flow);
    if (!meet) EXPECT_NEAR(result->time.seconds(), flow, 0.04 * flow);
  }
}

}  // namespace
}  // namespace trunkline
