#include "fabric/import/trunk_groups.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

// Ends 0, 1, 2 and leaves 10, 11, 12.
bool AreTwins(const Joints& cables, std::uint32_t a, std::uint32_t b) {
  DisjointSets leaves(13);
  UniteTwinLeaves(cables, leaves);
  return leaves.Find(a) == leaves.Find(b);
}

TEST(UniteTwinLeaves, NeedsAllEndsOfBothOnBoth) {
  EXPECT_TRUE(AreTwins({{0, 10}, {0, 11}, {1, 11}, {1, 10}}, 10, 11));
  // Uplinks of 10 are none of end 1's.
  EXPECT_FALSE(AreTwins({{0, 10}, {0, 11}, {1, 11}}, 10, 11));
  // Nor those of 10 and 12 end 0's and 1's both.
  EXPECT_FALSE(AreTwins({{0, 10}, {0, 11}, {1, 11}, {1, 12}}, 10, 11));
  // One has two cables to a leaf, the other one.
  EXPECT_FALSE(AreTwins({{0, 10}, {0, 11}, {1, 10}, {1, 10}, {1, 11}}, 10, 11));
  EXPECT_FALSE(AreTwins({{0, 10}, {1, 11}}, 10, 11));
}

TEST(FindDeadEnds, AreSwitchesThatLeadToNoEndButBack) {
  // End 0 - 1 - 2 - 3, and end 4 on 2.
  const Joints cables = {{0, 1}, {1, 2}, {2, 3}, {4, 2}};
  EXPECT_EQ(FindDeadEnds(cables, {true, false, false, false, true}),
            std::vector<bool>({false, false, false, true, false}));
}

}  // namespace
}  // namespace trunkline
