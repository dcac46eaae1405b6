#include "trunkline/report/planner_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "report/test_fabrics.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kWithout = "without what the list does not sell";

// A fabric whose bisection is known by bounds only, at the prices of a list that sells no switch if
// `gap`.
FabricTrial Priced(bool gap) {
  auto prices = FindPriceList(kDefaultPrices);
  EXPECT_TRUE(prices.has_value());
  if (gap) prices->switches.clear();
  FabricTrial trial;
  trial.name = "clos";
  trial.built = std::make_shared<const BuiltFabric>(Build("dragonfly:h=2"));
  trial.analysis = Analyse(*trial.built);
  EXPECT_LT(trial.analysis.bisection.lower, trial.analysis.bisection.upper);
  trial.cost = CostFabric(*trial.built, *prices, trial.analysis.bisection);
  EXPECT_EQ(trial.cost.unpriced.empty(), !gap);
  return trial;
}

int CountOf(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// A lower bound over a lower bound bounds nothing.
TEST(PlannerReport, ASumThatLeavesPartsOutBoundsNothingAndIsMarked) {
  const FabricTrial whole = Priced(false);
  const FabricTrial part = Priced(true);
  const std::string bill = RenderCostText(*whole.built, whole.cost);
  EXPECT_THAT(bill, HasSubstr(", at most "));
  EXPECT_THAT(bill, Not(HasSubstr(kWithout)));
  const std::string less = RenderCostText(*part.built, part.cost);
  EXPECT_THAT(less, Not(HasSubstr("at most")));
  EXPECT_THAT(less, HasSubstr(std::string("(its lower bound), ") + kWithout));

  const std::string compared = RenderComparisonText({whole});
  EXPECT_THAT(compared, HasSubstr("<= "));
  EXPECT_THAT(compared, Not(HasSubstr("*")));
  const std::string marked = RenderComparisonText({part});
  EXPECT_THAT(marked, Not(HasSubstr("<= ")));
  EXPECT_EQ(CountOf(marked, "USD *"), 3);  // the price, an endpoint's, that of a GB/s
  EXPECT_THAT(marked, HasSubstr(std::string("* ") + kWithout));

  // Of two, the one alone.
  EXPECT_EQ(CountOf(RenderComparisonText({whole, part}), "USD *"), 3);
}

TEST(PlannerReport, AdviceMarksThePricesThatLeavePartsOut) {
  for (const bool gap : {false, true}) {
    Advice advice;
    advice.candidates.push_back({});
    advice.candidates.back().kind = "dragonfly";
    advice.candidates.back().trial = Priced(gap);
    const std::string text = RenderAdviceText({}, advice);
    EXPECT_EQ(CountOf(text, "USD *"), gap ? 2 : 0);
    EXPECT_EQ(CountOf(text, kWithout), gap ? 1 : 0);
  }
}

}  // namespace
}  // namespace trunkline
