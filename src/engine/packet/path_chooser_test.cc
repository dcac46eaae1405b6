#include "engine/packet/path_chooser.h"

#include <gtest/gtest.h>

#include <set>

namespace trunkline {
namespace {

TEST(PathChooser, GivesEveryEntropyItsTurn) {
  PathChooser chooser(1);
  for (int round = 0; round < 3; ++round) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < PathChooser::kEntropies; ++i) seen.insert(chooser.Next());
    EXPECT_EQ(seen.size(), PathChooser::kEntropies);
  }
}

TEST(PathChooser, UsesUnmarkedEntropiesOnceMoreInTheirOrder) {
  PathChooser chooser(1);
  chooser.Hear(9, PathChooser::News::kGood);
  chooser.Hear(64 + 5, PathChooser::News::kGood);
  EXPECT_EQ(chooser.Next(), 9U);
  EXPECT_EQ(chooser.Next(), 5U);
  EXPECT_EQ(chooser.Next(), PathChooser(1).Next());
}

// A trimmed packet costs four points, a mark one: as many rounds without the entropy.
TEST(PathChooser, PassesOverPenalizedEntropiesUntilTheyHavePaid) {
  PathChooser chooser(1);
  chooser.Hear(3, PathChooser::News::kTrimmed);
  chooser.Hear(40, PathChooser::News::kMarked);
  int threes = 0;
  int forties = 0;
  for (std::uint32_t i = 0; i < 6 * PathChooser::kEntropies; ++i) {
    const std::uint32_t entropy = chooser.Next();
    threes += entropy == 3 ? 1 : 0;
    forties += entropy == 40 ? 1 : 0;
  }
  EXPECT_NEAR(threes, 2, 1);
  EXPECT_NEAR(forties, 5, 1);
}

TEST(PathChooser, EndsWhereEveryEntropyIsPenalized) {
  PathChooser chooser(1);
  for (std::uint32_t i = 0; i < PathChooser::kEntropies; ++i) {
    chooser.Hear(i, PathChooser::News::kTrimmed);
  }
  EXPECT_LT(chooser.Next(), PathChooser::kEntropies);
}

}  // namespace
}  // namespace trunkline
