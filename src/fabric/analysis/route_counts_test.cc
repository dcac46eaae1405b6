#include "trunkline/fabric/route_counts.h"

#include <gtest/gtest.h>

#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

TEST(RouteCounts, ALeafSpreadsTheOthersEndsOverItsUplinks) {
  const auto spec = ParseFabricSpec("clos:nodes=16,radix=8");
  ASSERT_TRUE(spec.has_value());
  const auto built = BuildFabric(*spec);
  ASSERT_TRUE(built.has_value());
  const auto ports = CountRoutes(built->fabric, RoutingPolicy::kMinHop);
  ASSERT_TRUE(ports.has_value());
  ASSERT_EQ(ports->size(), 32U);
  // 12 ends of other leaves over 4 uplinks; 4 ends of a leaf over the 2 cables of a spine to it.
  for (std::size_t i = 0; i < ports->size(); ++i) {
    EXPECT_EQ((*ports)[i].destinations, i < 16 ? 3U : 2U);
  }
  EXPECT_FALSE(CountRoutes(built->fabric, RoutingPolicy::kEcmp).has_value());
}

}  // namespace
}  // namespace trunkline
