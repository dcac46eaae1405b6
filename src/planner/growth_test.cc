#include "trunkline/planner/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace trunkline {
namespace {

Result<Growth> Grow(const std::string& text, std::uint64_t most_gpus) {
  const auto spec = ParseFabricSpec(text);
  EXPECT_TRUE(spec.has_value());
  const auto prices = FindPriceList(kDefaultPrices);
  EXPECT_TRUE(prices.has_value());
  return GrowFabric(*spec, text, *prices, most_gpus);
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
