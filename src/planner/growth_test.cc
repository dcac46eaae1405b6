#include "trunkline/planner/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace trunkline {
namespace {

Result<Growth> Grow(const std::string& text, std::uint64_t most_gpus,
                    const Scenario* step = nullptr) {
  const auto spec = ParseFabricSpec(text);
  EXPECT_TRUE(spec.has_value());
  const auto prices = FindPriceList(kDefaultPrices);
  EXPECT_TRUE(prices.has_value());
  TrialOptions options;
  options.prices = *prices;
  options.step = step;
  return GrowFabric(*spec, text, options, most_gpus);
}

TEST(Growth, AddsATierWhereTheRadixIsExceeded) {
  // A Clos of 16-port switches holds 16 x 16 / 2 = 128 hosts on two tiers.
  const auto growth = Grow("clos:radix=16", 400);
  ASSERT_TRUE(growth.has_value());
  const auto third = std::ranges::find(growth->points, 3U, &GrowthPoint::tiers);
  ASSERT_NE(third, growth->points.end());
  EXPECT_EQ(third->nodes, 129U);
  EXPECT_EQ(std::prev(third)->nodes, 128U);
  EXPECT_GT(third->per_gpu(), 1.2 * std::prev(third)->per_gpu());
  EXPECT_EQ(growth->points.back().gpus, 400U);
  EXPECT_TRUE(growth->stopped_by.empty());
  EXPECT_TRUE(std::ranges::is_sorted(growth->points, {}, &GrowthPoint::nodes));
}

// On one switch of 400 Gb/s all send 7/8 or 15/16 of 1 GiB to others: 2^30 / 50 GB/s is 21.47 ms.
TEST(Growth, TimesAnAllToAllAtEachSize) {
  const auto growth = Grow("single-switch", 16);
  ASSERT_TRUE(growth.has_value());
  for (const GrowthPoint& point : growth->points) {
    ASSERT_TRUE(point.all_to_all && point.all_reduce);
    const double n = point.nodes;
    const double bytes = (n - 1) / n * static_cast<double>(growth->size.count());
    EXPECT_GE(point.all_to_all->seconds(), bytes / 50e9);
    EXPECT_LE(point.all_to_all->seconds(), 1.1 * bytes / 50e9);
  }
}

// A step on two nodes.
Result<Scenario> StepOf(const std::string& parallel) {
  auto step = ParseScenario(R"(
name: weak scaling
cluster: {node: dgx-h100, nodes: 2, fabric: {kind: rail-optimized}}
workload:
  training:
    model: examples/models/llama-3.1-8b.json
    parallel: {)" + parallel + R"(}
    micro_batch: 1
    global_batch: 8
    sequence: 4096
)",
                            std::string(TRUNKLINE_SOURCE_DIR) + "/scenario.yaml");
  EXPECT_TRUE(step.has_value()) << Format(step.error().front());
  return step;
}

// Each replica does what it did; only the reduction over more replicas takes longer.
TEST(Growth, GrowsATrainingStepByReplicas) {
  const auto step = StepOf("tp: 8, dp: 2");
  ASSERT_TRUE(step.has_value());
  const auto growth = Grow("rail-optimized:node=dgx-h100,radix=16", 256, &*step);
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(growth->step, "weak scaling");
  ASSERT_TRUE(growth->points.front().step && growth->points.back().step);
  EXPECT_GE(*growth->points.back().step, *growth->points.front().step);
  EXPECT_LT(growth->points.back().step->seconds(), 2 * growth->points.front().step->seconds());
}

TEST(Growth, SaysWhyAStepDoesNotRun) {
  const auto step = StepOf("tp: 8, pp: 2");
  ASSERT_TRUE(step.has_value());
  const auto growth = Grow("rail-optimized:node=dgx-h100,radix=16", 32, &*step);
  ASSERT_TRUE(growth.has_value());
  const auto three = std::ranges::find(growth->points, 3U, &GrowthPoint::nodes);
  ASSERT_NE(three, growth->points.end());
  EXPECT_FALSE(three->step || three->step_gpu_seconds());
  EXPECT_THAT(three->troubles, ::testing::ElementsAre(::testing::HasSubstr("takes 16 GPUs")));
  const GrowthPoint& two = growth->points.front();
  ASSERT_TRUE(two.step.has_value());
  EXPECT_TRUE(two.troubles.empty());
  EXPECT_DOUBLE_EQ(*two.step_gpu_seconds(), 16 * two.step->seconds());
}

TEST(Growth, RefusesAStepThatCannotGrow) {
  Scenario step;
  step.workload = CollectiveJob();
  const auto growth = Grow("clos:radix=16", 64, &step);
  ASSERT_FALSE(growth.has_value());
  EXPECT_EQ(growth.error()[0].code, "TL1433");
}

TEST(Growth, SaysWhatEndsIt) {
  // 8-port switches and three tiers hold 8^3 / 4 = 128 hosts.
  const auto growth = Grow("fat-tree:k=8", 1000);
  ASSERT_TRUE(growth.has_value());
  EXPECT_LE(growth->points.back().nodes, 128U);
  EXPECT_FALSE(growth->stopped_by.empty());
}

TEST(Growth, NeedsTwoNodes) {
  const auto growth = Grow("rail-optimized:node=dgx-h100", 8);
  ASSERT_FALSE(growth.has_value());
  EXPECT_EQ(growth.error()[0].code, "TL1433");
  EXPECT_THAT(growth.error()[0].hint, ::testing::HasSubstr("16"));
}

}  // namespace
}  // namespace trunkline
