#include "base/side_by_side.h"

#include <gmock/gmock.h>

#include <vector>

namespace trunkline {
namespace {

TEST(SideBySide, DoesEveryPieceOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<int> done(count);
    SideBySide(count, [&](std::size_t i) { ++done[i]; });
    EXPECT_THAT(done, ::testing::Each(1));
    EXPECT_EQ(done.size(), count);
  }
}

}  // namespace
}  // namespace trunkline
