#include "base/plural.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

TEST(Plural, SaysOneOfOneAndManyOfNoneAndMore) {
  EXPECT_EQ(Plural(1, "endpoint"), "1 endpoint");
  EXPECT_EQ(Plural(0, "endpoint"), "0 endpoints");
  EXPECT_EQ(Plural(1234, "switch"), "1,234 switches");
  EXPECT_EQ(Plural(2, "box"), "2 boxes");
  EXPECT_EQ(Plural(3, "leaf", "leaves"), "3 leaves");
  EXPECT_EQ(Plural(1, "leaf", "leaves"), "1 leaf");
}

TEST(Plural, GroupsThousands) {
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(123), "123");
  EXPECT_EQ(Grouped(-1234), "-1,234");
}

}  // namespace
}  // namespace trunkline
