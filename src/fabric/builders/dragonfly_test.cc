#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "fabric/builders/testing.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

TEST(Dragonfly, HasTheCountsOfItsFormulas) {
  // g a p ends, g a (a - 1) / 2 local and g (g - 1) / 2 global links.
  const Counts counts = Count("dragonfly:groups=9,routers=32,ends=16");
  EXPECT_EQ(counts.nodes, 9U * 32 * 16);
  EXPECT_EQ(counts.switch_cables, 9U * 32 * 31 / 2 + 9 * 8 / 2);
}

// Global cables between every two groups, by pair.
std::map<std::pair<std::uint32_t, std::uint32_t>, int> GlobalCables(const Fabric& fabric) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> cables;
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const std::uint32_t from = fabric.device(fabric.link(LinkId(i)).from).group;
    const std::uint32_t to = fabric.device(fabric.link(LinkId(i)).to).group;
    if (from == Device::kNoGroup || to == Device::kNoGroup || from == to) continue;
    ++cables[std::minmax(from, to)];
  }
  return cables;
}

TEST(Dragonfly, OfPAHGJoinsEveryTwoGroupsByOneCable) {
  // Kim et al., ISCA 2008: N = ap(ah + 1), radix p + a + h - 1. The 1,056 ends of the papers.
  const BuiltFabric built = Build("dragonfly:p=4,a=8,h=4,g=33");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.nodes, 1056U);
  EXPECT_EQ(counts.switches[0], 264U);
  EXPECT_EQ(counts.switch_cables, 33U * 8 * 7 / 2 + 33 * 32 / 2);
  EXPECT_EQ(MostPorts(built.fabric), 4U + 8 + 4 - 1);
  const auto cables = GlobalCables(built.fabric);
  EXPECT_EQ(cables.size(), 33U * 32 / 2);
  for (const auto& [pair, count] : cables) EXPECT_EQ(count, 1);
  EXPECT_EQ(CountHops(built.fabric).diameter_switches, 4U);
}

TEST(Dragonfly, TakesBalancedNumbersWhereKeysAreAbsent) {
  const Counts counts = Count("dragonfly:h=2");
  EXPECT_EQ(counts.nodes, 72U);
  EXPECT_EQ(counts.switches[0], 36U);
}

TEST(Dragonfly, SpreadsGlobalCablesEvenlyOverFewerGroups) {
  // 16 global ports a group: for 4 others four cables each, for 5 others three and one port over.
  for (const auto& [pair, count] : GlobalCables(Build("dragonfly:a=4,h=4,g=5").fabric)) {
    EXPECT_EQ(count, 4);
  }
  for (int groups : {2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}) {
    const BuiltFabric built = Build("dragonfly:a=4,h=4,p=2,g=" + std::to_string(groups));
    const auto cables = GlobalCables(built.fabric);
    ASSERT_EQ(cables.size(), static_cast<std::size_t>(groups * (groups - 1) / 2));
    const int each = 16 / (groups - 1);
    const int left = 16 % (groups - 1);
    int total = 0;
    for (const auto& [pair, count] : cables) {
      EXPECT_GE(count, each) << groups;
      EXPECT_LE(count, each + 1) << groups;
      total += count;
    }
    // An odd number of ports over in an odd number of groups leaves one free in each.
    const int used = 16 - (left % 2 == 1 && groups % 2 == 1 ? 1 : 0);
    EXPECT_EQ(2 * total, groups * used) << groups;
    EXPECT_EQ(MostPorts(built.fabric), 2U + 3 + 4) << groups;
  }
}

TEST(Dragonfly, OfDeepSeeksTableHasItsCounts) {
  // Insights into DeepSeek-V3 (ISCA 2025), table 3: 511 groups of radix 64, all ports in use.
  const Counts counts = Count("dragonfly:p=16,a=32,h=16,g=511");
  EXPECT_EQ(counts.nodes, 261'632U);
  EXPECT_EQ(counts.switches[0], 16'352U);
  EXPECT_EQ(counts.switch_cables, 384'272U);
}

// The h of the first remedy; 0: none.
int HintOfH(const std::string& spec) {
  const std::string error = ErrorOf(spec);
  const std::size_t at = error.find("would work: ");
  if (at == std::string::npos) return 0;
  const std::size_t number = error.find("h=", at);
  return number == std::string::npos ? 0 : std::stoi(error.substr(number + 2));
}

// Groups of a routers, or 2h, have a h global cables, one to each other group at least. Five of 2h
// routers of h NICs hold 100 from 10 h^2, so h=4; 400 nodes of 8 from 6 x 2 h^2 >= 3200, so h=17.
TEST(Dragonfly, NamesTheLeastPortsThatReachTheGroupsAskedForAndHoldTheNodes) {
  for (const auto& [spec, least] :
       {std::pair("dragonfly:a=8,g=4", 1), std::pair("dragonfly:a=8,g=18", 3),
        std::pair("dragonfly:g=10", 3), std::pair("dragonfly:nodes=100,g=5", 4),
        std::pair("dragonfly:node=dgx-h100,nodes=400,g=6", 17),
        std::pair("dragonfly-plus:nodes=100,g=5", 5)}) {
    EXPECT_EQ(HintOfH(spec), least) << spec;
    EXPECT_TRUE(TryBuild(spec + (",h=" + std::to_string(least)))) << spec;
    if (least > 1) EXPECT_FALSE(TryBuild(spec + (",h=" + std::to_string(least - 1)))) << spec;
  }
}

// 65,536 groups of one router each would be as many switches, and need h=65535.
TEST(Dragonfly, HintsAtNothingThatIsTooLarge) {
  EXPECT_EQ(HintOfH("dragonfly:g=65536"), 1);
  EXPECT_THAT(ErrorOf("dragonfly:g=65536"), HasSubstr("h=1 without g"));
  EXPECT_THAT(ErrorOf("dragonfly:g=65536,h=1"), ::testing::Not(HasSubstr("h=182")));
  EXPECT_THAT(ErrorOf("dragonfly:g=65536,h=1"), HasSubstr("would work: g=3"));
}

// a=2h follows h: 18 global cables of h=3 reach nine other groups.
TEST(Dragonfly, RemediesKnowThatRoutersFollowPorts) {
  EXPECT_THAT(ErrorOf("dragonfly:g=10,h=1"), HasSubstr("would work: h=3, g=3"));
  EXPECT_THAT(ErrorOf("dragonfly:g=10,h=1"), ::testing::Not(HasSubstr("h=5")));
  EXPECT_TRUE(TryBuild("dragonfly:g=10,h=3"));
  EXPECT_TRUE(TryBuild("dragonfly:g=3,h=1"));
}

TEST(Dragonfly, BisectionIsThatOfTheGlobalCablesOfHalfTheGroups) {
  // Eight groups, two cables between each two, and NICs fast enough to fill them: 4 x 4 x 2 cables.
  const BuiltFabric built = Build("dragonfly:p=8,a=7,h=2,g=8,link=100 Gb/s,local=8");
  ASSERT_TRUE(built.bisection.has_value());
  EXPECT_EQ(built.bisection->upper, Rate::GigabitsPerSecond(100) * 32);
  EXPECT_EQ(built.bisection->lower, built.bisection->upper);
}

TEST(Dragonfly, BisectionIsBoundedCloselyForDeepSeeksGroups) {
  // A fraction of a percent less than half of the NICs' rate over two: g - 1 = 510 of 512 ports
  // lead to other groups once, and a group is split.
  const BuiltFabric built = Build("dragonfly:p=16,a=32,h=16,g=511,link=100 Gb/s");
  ASSERT_TRUE(built.bisection.has_value());
  const double quarter = 261'632.0 / 4 * 100e9 / 8;
  EXPECT_GT(built.bisection->lower.bytes_per_second(), 0.99 * quarter);
  EXPECT_LT(built.bisection->lower, built.bisection->upper);
  EXPECT_LT(built.bisection->upper.bytes_per_second(), 1.01 * quarter);
}

TEST(Dragonfly, BisectionByFormulaAgreesWithThatBySearch) {
  for (const char* spec :
       {"dragonfly:h=2", "dragonfly:h=1", "dragonfly:p=2,a=4,h=2,g=4",
        "dragonfly:p=3,a=4,h=1,g=4,global=4", "dragonfly-plus:h=2", "dragonfly-plus:h=2,g=3,p=3",
        "dragonfly-plus:h=2,leaves=3,g=4,global=2"}) {
    const BuiltFabric built = Build(spec);
    ASSERT_TRUE(built.bisection.has_value()) << spec;
    const Bisection searched = BoundBisection(built.fabric);
    EXPECT_LE(built.bisection->lower, searched.upper) << spec;
    EXPECT_LE(searched.lower, built.bisection->upper) << spec;
  }
}

TEST(Dragonfly, RefusesWhatItCannotJoinAndSaysWhatWorks) {
  EXPECT_THAT(ErrorOf("dragonfly:p=1,a=4,h=2,g=10"), HasSubstr("g=9"));
  EXPECT_THAT(ErrorOf("dragonfly:p=1,a=4,h=2,g=10"), HasSubstr("would work: h=3, a=5, g=9"));
  EXPECT_TRUE(TryBuild("dragonfly:p=1,a=4,h=3,g=10"));
  EXPECT_TRUE(TryBuild("dragonfly:p=1,a=5,h=2,g=10"));
  EXPECT_THAT(ErrorOf("dragonfly:p=1,a=4,groups=3"), HasSubstr("both say the shape"));
  EXPECT_THAT(ErrorOf("dragonfly:p=1,a=4"), HasSubstr("needs h"));
  EXPECT_THAT(ErrorOf("dragonfly"), HasSubstr("write h=4"));
  EXPECT_THAT(ErrorOf("dragonfly:h=2,nodes=73"), HasSubstr("nodes=72 at most"));
  EXPECT_THAT(ErrorOf("dragonfly:h=1,p=1,a=1,node=dgx-h100"), HasSubstr("a node needs 8 places"));
  EXPECT_THAT(ErrorOf("dragonfly:h=4096,a=4096"), HasSubstr("TL1404"));
}

// Shpiner et al. 2017: of switches of radix 2h, h^2 ends a group and h^2 + 1 groups.
TEST(DragonflyPlus, OfOneRadixHasTheCountsOfItsFormulas) {
  for (std::size_t h : {1U, 2U, 3U, 4U, 5U}) {
    const BuiltFabric built = Build("dragonfly-plus:h=" + std::to_string(h));
    const Counts counts = CountsOf(built.fabric);
    const std::size_t groups = h * h + 1;
    EXPECT_EQ(counts.nodes, groups * h * h);
    EXPECT_EQ(counts.switches[1], groups * h);
    EXPECT_EQ(counts.switches[2], groups * h);
    EXPECT_EQ(counts.switch_cables, groups * h * h + groups * (groups - 1) / 2);
    EXPECT_EQ(MostPorts(built.fabric), 2 * h);
  }
}

TEST(DragonflyPlus, GoesFromLeafToLeafOfAnotherGroupByTwoSpines) {
  const HopStatistics hops = CountHops(Build("dragonfly-plus:h=3").fabric);
  EXPECT_EQ(hops.diameter_switches, 4U);
  EXPECT_EQ(hops.unreachable, 0);
}

TEST(DragonflyPlus, SpreadsGlobalCablesEvenlyOverFewerGroups) {
  // Four spines of three cables: 12 ports for 3 others.
  for (const auto& [pair, count] :
       GlobalCables(Build("dragonfly-plus:h=3,spines=4,leaves=6,p=2,g=4").fabric)) {
    EXPECT_EQ(count, 4);
  }
  EXPECT_THAT(ErrorOf("dragonfly-plus:h=3,spines=4,g=14"),
              HasSubstr("would work: h=4, spines=5, g=13"));
  EXPECT_THAT(ErrorOf("dragonfly-plus:p=2"), HasSubstr("needs h"));
}

}  // namespace
}  // namespace trunkline
