#include "trunkline/base/check.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

TEST(Check, PassesSilentlyWhenTheConditionHolds) {
  int evaluations = 0;
  TL_CHECK(++evaluations == 1, "never printed");
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, NamesTheConditionAndItsValuesAndExitsWith70) {
  EXPECT_EXIT(TL_CHECK(1 + 1 == 3, "sums differ", 2, 3), testing::ExitedWithCode(70),
              "check_test.cc:[0-9]+: 1 \\+ 1 == 3 does not hold: sums differ 2 3");
}

}  // namespace
}  // namespace trunkline
