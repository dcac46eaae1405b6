#include "engine/packet/path_chooser.h"

#include <gtest/gtest.h>

#include <set>

namespace trunkline {
namespace {

TEST(PathChooser, GivesEveryEntropyItsTurn) {
  PathChooser chooser;
  for (const std::uint64_t round : {0U, 77U}) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < PathChooser::kEntropies; ++i) seen.insert(chooser.Next(round));
    EXPECT_EQ(seen.size(), PathChooser::kEntropies);
  }
}

TEST(PathChooser, UsesUnmarkedEntropiesOnceMoreInTheirOrder) {
  PathChooser chooser;
  chooser.Hear(9, PathChooser::News::kGood);
  chooser.Hear(64 + 5, PathChooser::News::kGood);
  EXPECT_EQ(chooser.Next(0), 9U);
  EXPECT_EQ(chooser.Next(0), 5U);
  EXPECT_EQ(chooser.Next(0), 0U);
}

// A trimmed packet costs four points, a mark one: as many rounds without the entropy.
TEST(PathChooser, PassesOverPenalizedEntropiesUntilTheyHavePaid) {
  PathChooser chooser;
  chooser.Hear(3, PathChooser::News::kTrimmed);
  chooser.Hear(40, PathChooser::News::kMarked);
  int threes = 0;
  int forties = 0;
  for (std::uint32_t i = 0; i < 6 * PathChooser::kEntropies; ++i) {
    const std::uint32_t entropy = chooser.Next(0);
    threes += entropy == 3 ? 1 : 0;
    forties += entropy == 40 ? 1 : 0;
  }
  EXPECT_NEAR(threes, 2, 1);
  EXPECT_NEAR(forties, 5, 1);
}

TEST(PathChooser, EndsWhereEveryEntropyIsPenalized) {
  PathChooser chooser;
  for (std::uint32_t i = 0; i < PathChooser::kEntropies; ++i) {
    chooser.Hear(i, PathChooser::News::kTrimmed);
  }
  EXPECT_LT(chooser.Next(0), PathChooser::kEntropies);
}

}  // namespace
}  // namespace trunkline
