#include "trunkline/fabric/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "fabric/builders/testing.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

FabricCost CostOf(const std::string& text, const PriceList& prices) {
  const BuiltFabric built = Build(text);
  return CostFabric(built, prices, built.bisection.value_or(Bisection()));
}

PriceList Prices(const std::string& name) {
  auto list = FindPriceList(name);
  EXPECT_TRUE(list.has_value()) << Format(list.error().front());
  return list.value_or(PriceList());
}

// A switch costs 100 and a cable within a rack (2 m) 1, any other 10.
PriceList RoundPrices() {
  return {.name = "round",
          .currency = "EUR",
          .floor = {},
          .switches = {{.name = "switch",
                        .ports = 8,
                        .rate = Rate::GigabitsPerSecond(400),
                        .breakout = 2,
                        .price = 100,
                        .watts = 10,
                        .source = ""}},
          .cables = {{.name = "copper",
                      .rate = Rate::GigabitsPerSecond(400),
                      .reach_m = 2,
                      .price = 1,
                      .source = ""},
                     {.name = "optics",
                      .rate = Rate::GigabitsPerSecond(400),
                      .reach_m = 100,
                      .price = 10,
                      .watts = 2,
                      .source = ""}}};
}

// What is sold for a part of a port is none of the cables that a whole one takes.
TEST(FabricCost, TakesTheNextRateWhereAnOwnIsSoldForPartsOfAPortAlone) {
  PriceList prices = RoundPrices();
  prices.cables.push_back({.name = "split",
                           .rate = Rate::GigabitsPerSecond(100),
                           .breakout = 2,
                           .reach_m = 100,
                           .price = 3,
                           .source = ""});
  // No port can be split: one host of 100 Gb/s takes the copper of 400 Gb/s.
  prices.switches[0].breakout = 1;
  const FabricCost cost = CostOf("single-switch:nodes=1,link=100 Gb/s", prices);
  EXPECT_EQ(cost.cables_price, 1);
}

TEST(FabricCost, IsTheSumOfSwitchesAndCables) {
  // Two leaves of four hosts, all in one rack, and four spines with two cables each.
  const FabricCost cost = CostOf("fat-tree:children=[4,2],parents=[1,4]", RoundPrices());
  EXPECT_THAT(cost.unpriced, IsEmpty());
  EXPECT_DOUBLE_EQ(cost.switches_price, 6 * 100);
  EXPECT_DOUBLE_EQ(cost.cables_price, 16 * 1);
  EXPECT_DOUBLE_EQ(cost.watts, 6 * 10);
  EXPECT_DOUBLE_EQ(*cost.per_end(), 616 / 8.0);
  EXPECT_DOUBLE_EQ(*cost.per_gigabyte_of_bisection(), 616 / 200.0);
  ASSERT_EQ(cost.lines.size(), 4U);
  EXPECT_EQ(cost.lines[1].use, "spine");
  EXPECT_EQ(cost.lines[1].ports_used, 8U);
  EXPECT_EQ(cost.lines[1].ports_free, 24U);
  EXPECT_EQ(cost.lines[2].use, "host to leaf cable");
  EXPECT_EQ(cost.lines[2].count, 8U);
}

TEST(FabricCost, TakesOpticsWhereCopperDoesNotReach) {
  PriceList prices = RoundPrices();
  prices.floor.nics_per_rack = 4;  // a leaf in each of two racks, the spines in one of them
  const FabricCost cost = CostOf("fat-tree:children=[4,2],parents=[1,4]", prices);
  EXPECT_DOUBLE_EQ(cost.cables_price, 8 * 1 + 4 * 1 + 4 * 10);
  EXPECT_DOUBLE_EQ(cost.watts, 6 * 10 + 4 * 2);
  double metres = 0;
  for (const CostLine& line : cost.lines) metres += line.metres;
  EXPECT_DOUBLE_EQ(metres, 16 * 2 + 4 * 0.6);
}

TEST(FabricCost, SharesPortsAmongSlowCablesAndBundlesFastOnes) {
  // Eight hosts of 200 Gb/s on four ports; an uplink of 1.6 Tb/s on the four others.
  const FabricCost cost = CostOf("tree:arity=[8,2],link=200 Gb/s", RoundPrices());
  EXPECT_THAT(cost.unpriced, IsEmpty());
  ASSERT_FALSE(cost.lines.empty());
  EXPECT_EQ(cost.lines[0].use, "leaf");
  EXPECT_EQ(cost.lines[0].ports_used, 2 * 8U);
  EXPECT_EQ(cost.lines[0].ports_free, 0U);
  const auto uplinks = std::ranges::find(cost.lines, "leaf to spine cable", &CostLine::use);
  ASSERT_NE(uplinks, cost.lines.end());
  EXPECT_EQ(uplinks->count, 8U);
}

// 16 links of 400 Gb/s would fill 32 ports of 200 Gb/s of a cheaper switch, at both ends of one
// cable each. Those of 1.6 Tb/s are faster than any port: eight take all 32 of the switch of 400
// Gb/s, and would take 64 of the other.
TEST(FabricCost, TakesSlowerPortsForNoLinkThatAPortOnSaleCarries) {
  PriceList prices = RoundPrices();
  prices.switches.front().ports = 32;
  prices.switches.push_back({.name = "slow",
                             .ports = 64,
                             .rate = Rate::GigabitsPerSecond(200),
                             .price = 50,
                             .source = ""});
  for (const auto& [spec, part, ports] :
       {std::tuple("single-switch:nodes=16,link=400 Gb/s", "switch", 16U),
        std::tuple("single-switch:nodes=16,link=200 Gb/s", "slow", 16U),
        std::tuple("single-switch:nodes=8,link=1600 Gb/s", "switch", 32U)}) {
    const FabricCost cost = CostOf(spec, prices);
    ASSERT_EQ(cost.lines.size(), 2U) << spec;
    EXPECT_EQ(cost.lines[0].part, part) << spec;
    EXPECT_EQ(cost.lines[0].ports_used, ports) << spec;
  }
  // As many cables as ports, even where one is sold that would carry the link.
  prices.cables.push_back({.name = "fast",
                           .rate = Rate::GigabitsPerSecond(1600),
                           .reach_m = 100,
                           .price = 1,
                           .source = ""});
  EXPECT_EQ(CostOf("single-switch:nodes=8,link=1600 Gb/s", prices).lines[1].count, 32U);
  // 400 Gb/s on more ports than are on sale as fast: none, rather than two slower ones each.
  EXPECT_THAT(CostOf("single-switch:nodes=33,link=400 Gb/s", prices).unpriced,
              ::testing::ElementsAre("a leaf of 33 x 400 Gb/s"));
}

// The leaves of a Clos of radix 16 at the prices shipped: 32 ports of 400 Gb/s are the least sold.
TEST(FabricCost, OfNarrowSwitchesIsThatOfTheLeastSoldAtTheirRate) {
  const FabricCost cost = CostOf("clos:nodes=64,radix=16", Prices("ndr-2024"));
  EXPECT_DOUBLE_EQ(cost.switches_price, (8 + 4) * 20'000.0);
}

// Links of 200 Gb/s: no cable of 400, however cheap; two to a port of the switch, so four
// port-split cables for seven hosts, and none where the list has none.
TEST(FabricCost, TakesCablesOfTheLinksRateAndSplitsThemWherePortsAreShared) {
  PriceList prices = RoundPrices();
  const auto cable = [](std::string name, std::int64_t rate, std::uint32_t breakout, double price) {
    return CablePrice{.name = std::move(name),
                      .rate = Rate::GigabitsPerSecond(rate),
                      .breakout = breakout,
                      .reach_m = 100,
                      .price = price,
                      .source = ""};
  };
  prices.cables.push_back(cable("slow", 200, 1, 50));
  const FabricCost straight = CostOf("single-switch:nodes=7,link=200 Gb/s", prices);
  ASSERT_EQ(straight.lines.size(), 2U);
  EXPECT_EQ(straight.lines[1].part, "slow");
  EXPECT_EQ(straight.lines[1].count, 7U);
  EXPECT_EQ(straight.lines[1].rate, Rate::GigabitsPerSecond(200));
  EXPECT_EQ(straight.lines[0].rate, Rate::GigabitsPerSecond(400));
  prices.cables.push_back(cable("split", 200, 2, 90));
  const FabricCost split = CostOf("single-switch:nodes=7,link=200 Gb/s", prices);
  ASSERT_EQ(split.lines.size(), 2U);
  EXPECT_EQ(split.lines[0].ports_used, 4U);
  EXPECT_EQ(split.lines[1].part, "split");
  EXPECT_EQ(split.lines[1].count, 4U);
  EXPECT_DOUBLE_EQ(split.cables_price, 4 * 90);
  // 100 Gb/s is on no list: the next above.
  EXPECT_EQ(CostOf("single-switch:nodes=7,link=100 Gb/s", prices).lines[1].part, "split");
}

TEST(FabricCost, NamesWhatTheListDoesNotSell) {
  const FabricCost cost = CostOf("single-switch:nodes=9,link=400 Gb/s", RoundPrices());
  EXPECT_THAT(cost.unpriced, ::testing::ElementsAre("a leaf of 9 x 400 Gb/s"));
  EXPECT_DOUBLE_EQ(cost.switches_price, 0);
}

TEST(FabricCost, OfThreeTiersAnEndpointIsToTwoAsInDeepSeeksTable) {
  // ISCA 2025, table 3: 4.39 k$ an endpoint on two tiers of radix 64, 7.5 k$ on three. Its prices
  // are not public, so the ratio is held to a tenth.
  const PriceList prices = Prices("ndr-2024");
  const FabricCost two = CostOf("fat-tree:k=64,tiers=2", prices);
  const FabricCost three = CostOf("fat-tree:k=64", prices);
  EXPECT_NEAR(*three.per_end() / *two.per_end(), 7.5 / 4.39, 0.1 * 7.5 / 4.39);
  // Of switches alone it is exact: 5120 for 65,536 to 96 for 2048.
  EXPECT_DOUBLE_EQ((three.switches_price / 65'536) / (two.switches_price / 2048), 5.0 / 3);
}

TEST(FabricCost, OfPlanesAnEndpointTakesAsManySwitchesAsOne) {
  const PriceList prices = Prices("ndr-2024");
  const FabricCost one = CostOf("fat-tree:k=64,tiers=2", prices);
  const FabricCost eight = CostOf("clos:node=dgx-h100,nodes=2048,planes=8,radix=64", prices);
  EXPECT_DOUBLE_EQ(eight.switches_price, 8 * one.switches_price);
  // The leaf of a plane is in no rack with all its servers.
  EXPECT_GT(*eight.per_end(), *one.per_end());
}

TEST(FabricCost, OfTwoTiersIsThatOfTheSheetItsPricesAreFrom) {
  // 2,048 GPUs: 96 switches at 36,000; all of 4,096 links at 1,280 would be 5,242,880.
  const FabricCost cost =
      CostOf("clos:node=dgx-h100,nodes=256,radix=64,tiers=2", Prices("ndr-2024"));
  EXPECT_DOUBLE_EQ(cost.switches_price, 96 * 36'000.0);
  EXPECT_LE(cost.cables_price, 5'242'880);
  EXPECT_GE(cost.cables_price, 0.5 * 5'242'880);
}

// Parts of a fabric: switches and cables of each use.
std::map<std::string, std::uint64_t> PartsOf(const FabricCost& cost) {
  std::map<std::string, std::uint64_t> parts;
  for (const CostLine& line : cost.lines) parts[line.use] += line.count;
  return parts;
}

TEST(FabricCost, DoesNotFallWithMoreServersUnlessFewerPartsDo) {
  const PriceList prices = Prices("ndr-2024");
  for (const char* kind :
       {"rail-optimized:node=dgx-h100", "clos:node=dgx-h100", "clos:radix=16,tiers=3",
        "clos:node=dgx-h100,planes=8", "clos:radix=16,oversubscription=3"}) {
    FabricCost last;
    for (int nodes = 2; nodes <= 140; nodes += 2) {
      FabricCost cost = CostOf(std::string(kind) + ",nodes=" + std::to_string(nodes), prices);
      ASSERT_THAT(cost.unpriced, IsEmpty());
      const auto parts = PartsOf(cost);
      const auto before = PartsOf(last);
      const bool fewer = std::ranges::any_of(before, [&](const auto& part) {
        const auto found = parts.find(part.first);
        return found == parts.end() || found->second < part.second;
      });
      if (!fewer) EXPECT_GE(cost.price(), last.price()) << kind << ", " << nodes;
      last = std::move(cost);
    }
  }
}

// Racks of one server each, five to a row's pitch, as a spiral: ten to the left, ten back in the
// row above, to the right of both rows five each, and 15 to the left in the row below.
TEST(FabricCost, RacksFillSquaresFromTheMiddle) {
  PriceList prices = RoundPrices();
  prices.floor = {.nics_per_rack = 1, .rack_width_m = 1, .row_pitch_m = 5, .slack_m = 0};
  const auto metres = [&](int nodes) {
    double all = 0;
    for (const CostLine& line :
         CostOf("single-switch:nodes=" + std::to_string(nodes), prices).lines) {
      all += line.metres;
    }
    return all;
  };
  EXPECT_DOUBLE_EQ(metres(5), 0 + 1 + 2 + 3 + 4);
  EXPECT_DOUBLE_EQ(metres(10) - metres(5), 5 + 6 + 7 + 8 + 9);
  EXPECT_DOUBLE_EQ(metres(11) - metres(10), 5 + 9);
  EXPECT_DOUBLE_EQ(metres(20) - metres(19), 5);
  EXPECT_DOUBLE_EQ(metres(21) - metres(20), 5 + 1);
  EXPECT_DOUBLE_EQ(metres(30) - metres(25), 1 + 2 + 3 + 4 + 5);
  EXPECT_DOUBLE_EQ(metres(31) - metres(30), 5 + 5);
  EXPECT_DOUBLE_EQ(metres(45) - metres(44), 5 + 9);
  EXPECT_DOUBLE_EQ(metres(46) - metres(45), 5 + 10);
}

TEST(PriceList, EveryOneNamesASourceInEveryRow) {
  for (const std::string& name : PriceListNames()) {
    const PriceList list = Prices(name);
    EXPECT_EQ(list.name, name);
    for (const SwitchPrice& row : list.switches) EXPECT_FALSE(row.source.empty()) << row.name;
    for (const CablePrice& row : list.cables) EXPECT_FALSE(row.source.empty()) << row.name;
  }
}

TEST(PriceList, RefusesWhatIsNoneWithTheRemedy) {
  const auto unknown = FindPriceList("ndr-2042");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error()[0].code, "TL1430");
  EXPECT_THAT(unknown.error()[0].hint, HasSubstr("ndr-2024"));
  const std::string path = ::testing::TempDir() + "prices.yaml";
  std::ofstream(path) << "name: mine\ncurrency: EUR\nswitches:\n  - {name: a, ports: 8, price: 5}\n"
                         "cables: []\n";
  const auto broken = FindPriceList(path);
  ASSERT_FALSE(broken.has_value());
  ASSERT_EQ(broken.error().size(), 2U);
  EXPECT_EQ(broken.error()[0].code, "TL1431");
  EXPECT_EQ(broken.error()[0].where.line, 4);
  EXPECT_EQ(broken.error()[1].where.line, 5);
}

}  // namespace
}  // namespace trunkline
