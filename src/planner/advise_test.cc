#include "trunkline/planner/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/test_sanitizers.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AdviceRequest Request(std::uint32_t gpus) {
  AdviceRequest request;
  request.gpus = gpus;
  request.node = "dgx-h100";
  request.radix = 16;
  auto prices = FindPriceList(kDefaultPrices);
  EXPECT_TRUE(prices.has_value());
  request.trial.prices = prices.value_or(PriceList());
  request.trial.size = Bytes(1 << 26);
  return request;
}

// For what is asserted of fabrics and their prices alone: their times by the closed forms.
AdviceRequest RequestOfFabrics(std::uint32_t gpus) {
  AdviceRequest request = Request(gpus);
  request.trial.engine = EngineKind::kAnalytic;
  return request;
}

const Candidate* Find(const Advice& advice, const std::string& kind) {
  const auto found = std::ranges::find(advice.candidates, kind, &Candidate::kind);
  return found == advice.candidates.end() ? nullptr : &*found;
}

TEST(Advice, PutsWhatHalvesTheUplinksLastForAllToAll) {
  AdviceRequest request = Request(64);
  request.all_reduce = 0;
  request.all_to_all = 1;
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  const Candidate* whole = Find(*advice, "Clos, non-blocking");
  const Candidate* half = Find(*advice, "Clos, 2:1 oversubscribed");
  ASSERT_TRUE(whole != nullptr && half != nullptr && whole->slowdown && half->slowdown);
  // Of the 7 other nodes, all but those of its leaf are beyond the uplinks.
  EXPECT_GT(*half->slowdown, 1.5 * *whole->slowdown);
  EXPECT_LT(half->trial->cost.price(), whole->trial->cost.price());
  EXPECT_GT(half - whole, 0);
  EXPECT_THAT(half->reason, HasSubstr("AllToAll takes"));
}

TEST(Advice, PutsWhatIsOverTheBudgetAfterWhatIsNot) {
  AdviceRequest request = Request(64);
  const auto free = AdviseFabric(request);
  ASSERT_TRUE(free.has_value());
  double least = HUGE_VAL;
  double most = 0;
  for (const Candidate& candidate : free->candidates) {
    if (!candidate.trial) continue;
    least = std::min(least, candidate.trial->cost.price());
    most = std::max(most, candidate.trial->cost.price());
  }
  ASSERT_LT(least, most);
  request.budget = (least + most) / 2;
  const auto bounded = AdviseFabric(request);
  ASSERT_TRUE(bounded.has_value());
  bool over = false;
  for (const Candidate& candidate : bounded->candidates) {
    if (!candidate.trial || !candidate.slowdown) continue;
    EXPECT_FALSE(over && candidate.within_budget);
    over |= !candidate.within_budget;
    EXPECT_EQ(candidate.within_budget, candidate.trial->cost.price() <= *request.budget);
  }
  EXPECT_TRUE(over);
}

TEST(Advice, TriesScaleUnitsThatAreFull) {
  // Of switches of 64 ports a unit may have 32 nodes: with 16, half of its uplinks would be paid
  // for in vain.
  AdviceRequest request = RequestOfFabrics(128);
  request.radix = 64;
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  const Candidate* rails = Find(*advice, "rail-optimized");
  ASSERT_TRUE(rails != nullptr && rails->trial);
  EXPECT_EQ(std::ranges::count(advice->candidates, "rail-optimized", &Candidate::kind), 1);
  const auto spec = ParseFabricSpec("rail-optimized:node=dgx-h100,nodes=16,radix=64,unit=32");
  ASSERT_TRUE(spec.has_value());
  const auto half_empty = BuildFabric(*spec);
  ASSERT_TRUE(half_empty.has_value());
  const double price = CostFabric(*half_empty, request.trial.prices, {}).price();
  EXPECT_LT(rails->trial->cost.price(), price);
}

// 13 nodes on two rails: leaves of 12 nodes and 12 uplinks, two of them a rail, and two spines of
// 24 ports for all 48 uplinks. Of seven nodes a leaf has seven uplinks, one for each of seven
// spines.
TEST(Advice, TriesScaleUnitsThatArePartlyFilled) {
  AdviceRequest request = RequestOfFabrics(104);
  request.node = "hgx-pcie";
  request.radix = 24;
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  const Candidate* rails = Find(*advice, "rail-optimized");
  ASSERT_TRUE(rails != nullptr && rails->trial);
  std::uint32_t switches = 0;
  for (const TierSummary& tier : rails->trial->analysis.counts.tiers) switches += tier.switches;
  EXPECT_EQ(switches, 4U + 2);
  EXPECT_EQ(std::ranges::count(advice->candidates, "rail-optimized", &Candidate::kind), 1);
}

// Sizes that the closed forms leave out are no loss: none of them, simulated in full, is faster
// than the one chosen by more than a step, or as fast and cheaper.
TEST(Advice, TheSizeOfScaleUnitsIsTheBestOfAllSimulated) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes{{64, 16}};
  if (!kSanitized) sizes.insert(sizes.end(), {{128, 16}, {128, 64}, {192, 32}});
  for (const auto& [gpus, radix] : sizes) {
    AdviceRequest request = Request(gpus);
    request.radix = radix;
    const auto advice = AdviseFabric(request);
    ASSERT_TRUE(advice.has_value());
    const Candidate* chosen = Find(*advice, "rail-optimized");
    ASSERT_TRUE(chosen != nullptr && chosen->trial);
    const std::uint32_t nodes = gpus / 8;
    const std::uint32_t units = (nodes + radix / 2 - 1) / (radix / 2);
    const std::uint32_t full = (nodes + units - 1) / units;
    for (std::uint32_t unit = full; unit > 0 && unit >= full / 4; unit /= 2) {
      const auto spec =
          ParseFabricSpec("rail-optimized:node=dgx-h100,nodes=" + std::to_string(nodes) +
                          ",radix=" + std::to_string(radix) + ",unit=" + std::to_string(unit));
      auto built = spec ? BuildFabric(*spec) : std::unexpected(spec.error());
      if (!built) continue;
      const FabricTrial trial =
          TryFabric("unit", std::make_shared<const BuiltFabric>(*std::move(built)),
                    RoutingPolicy::kAdaptive, request.trial);
      ASSERT_TRUE(trial.all_reduce && trial.all_to_all);
      const auto ratio = [&](std::optional<TrialTime> FabricTrial::* time) {
        return ((*chosen->trial).*time)->time.seconds() / (trial.*time)->time.seconds();
      };
      const double slower = (ratio(&FabricTrial::all_reduce) + ratio(&FabricTrial::all_to_all)) / 2;
      EXPECT_LE(slower, 1 + 2 * Advice::kTie) << gpus << " " << radix << " " << unit;
      if (trial.cost.price() < chosen->trial->cost.price()) EXPECT_LT(slower, 1) << unit;
    }
  }
}

TEST(Advice, TakesNoPartOfAPriceForWithinTheBudget) {
  AdviceRequest request = RequestOfFabrics(64);
  request.trial.prices.cables.clear();
  request.budget = 1e9;
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  for (const Candidate& candidate : advice->candidates) {
    if (!candidate.trial) continue;
    EXPECT_FALSE(candidate.within_budget);
    EXPECT_THAT(candidate.reason, HasSubstr("its price leaves parts out"));
    EXPECT_THAT(candidate.reason, Not(HasSubstr("over the budget")));
  }
}

TEST(Advice, NamesTheGpusThatFillNodes) {
  const auto advice = AdviseFabric(Request(100));
  ASSERT_FALSE(advice.has_value());
  EXPECT_EQ(advice.error()[0].code, "TL1432");
  EXPECT_THAT(advice.error()[0].hint, HasSubstr("104"));
  EXPECT_FALSE(AdviseFabric(Request(8)).has_value());
}

TEST(Advice, RefusesSwitchesThatNobodyMakes) {
  for (const std::uint32_t radix : {1U, 65'536U}) {
    AdviceRequest request = Request(64);
    request.radix = radix;
    const auto advice = AdviseFabric(request);
    ASSERT_FALSE(advice.has_value());
    EXPECT_EQ(advice.error()[0].code, "TL1432");
    EXPECT_THAT(advice.error()[0].hint, HasSubstr("from 2 to 4096"));
  }
}

TEST(Advice, NamesWhatCouldBeBuiltWhereNothingCan) {
  // Three tiers of radix 4 hold 16 NICs; those of radix 8, 128.
  AdviceRequest request = Request(64);
  request.radix = 2;
  const auto small = AdviseFabric(request);
  ASSERT_TRUE(small.has_value());
  EXPECT_THAT(small->would_work, HasSubstr("switches of 4 ports"));  // a plane of 8 NICs each
  // Eight planes of three tiers of radix 64 hold 65,536 nodes, and no fabric more than 262,144
  // NICs.
  request = Request(1'000'000);
  request.radix = 64;
  const auto large = AdviseFabric(request);
  ASSERT_TRUE(large.has_value());
  EXPECT_THAT(large->would_work, HasSubstr("250000 GPUs"));
  EXPECT_THAT(Find(*large, "dragonfly")->reason, HasSubstr("513 groups"));  // 2 x 16 x 16 + 1
}

TEST(Advice, OffersOneSwitchWhereThatHasPortsForAll) {
  AdviceRequest request = Request(64);
  request.radix = 64;
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  const Candidate& best = advice->candidates.front();
  EXPECT_EQ(best.kind, "one switch");
  ASSERT_TRUE(best.trial.has_value());
  EXPECT_EQ(best.trial->built->fabric.node_count(), 8U);
  // A switch of 64 ports, and 64 cables of copper or optics.
  EXPECT_GE(best.trial->cost.price(), 36'000 + 64 * 250);
  EXPECT_LE(best.trial->cost.price(), 36'000 + 64 * 1'300);
  for (const Candidate& other : advice->candidates) {
    if (!other.trial) continue;
    EXPECT_GE(other.trial->cost.price(), best.trial->cost.price()) << other.kind;
  }
  request.radix = 32;
  const auto narrow = AdviseFabric(request);
  ASSERT_TRUE(narrow.has_value());
  const Candidate* none = Find(*narrow, "one switch");
  ASSERT_NE(none, nullptr);
  EXPECT_THAT(none->reason, HasSubstr("64 NICs are more than the 32 ports"));
}

TEST(Advice, IsSlowAtWhatTookLongerAlone) {
  AdviceRequest request = Request(64);
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  const auto least = [&](auto time) {
    Time best = Time::Max();
    for (const Candidate& one : advice->candidates) {
      if (one.trial) best = std::min(best, ((*one.trial).*time)->time);
    }
    return best.seconds();
  };
  const double reduce = least(&FabricTrial::all_reduce);
  const double exchange = least(&FabricTrial::all_to_all);
  int slow = 0;
  for (const Candidate& one : advice->candidates) {
    if (!one.trial) continue;
    const bool reduces = one.trial->all_reduce->time.seconds() >= 1.02 * reduce;
    const bool exchanges = one.trial->all_to_all->time.seconds() >= 1.02 * exchange;
    EXPECT_EQ(one.fails_at.find("AllReduce") != std::string::npos, reduces) << one.kind;
    EXPECT_EQ(one.fails_at.find("AllToAll") != std::string::npos, exchanges) << one.kind;
    slow += exchanges ? 1 : 0;
  }
  EXPECT_GT(slow, 0);
  EXPECT_THAT(Find(*advice, "Clos, 2:1 oversubscribed")->fails_at, HasSubstr("uplinks carry half"));
}

TEST(Advice, SaysWhyAKindIsNotTried) {
  AdviceRequest request = RequestOfFabrics(64);
  request.radix = 64;  // one dragonfly group of 512 NICs holds all
  request.trial.collectives = true;
  const auto advice = AdviseFabric(request);
  ASSERT_TRUE(advice.has_value());
  const Candidate* dragonfly = Find(*advice, "dragonfly");
  ASSERT_NE(dragonfly, nullptr);
  EXPECT_FALSE(dragonfly->trial.has_value());
  EXPECT_THAT(dragonfly->reason, HasSubstr("one group"));
}

}  // namespace
}  // namespace trunkline
