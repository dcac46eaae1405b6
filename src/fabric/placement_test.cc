#include "trunkline/fabric/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fabric/builders/testing.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const Fabric& fabric, const Placement& placement) {
  std::vector<std::string> names;
  for (std::uint32_t r = 0; r < placement.rank_count(); ++r) {
    names.push_back(fabric.name(placement.endpoint(RankId{r})));
  }
  return names;
}

Placement Place(const BuiltFabric& built, const PlacementSpec& spec, std::size_t ranks) {
  auto placement = PlaceRanks(built.fabric, built.unit_of_node, spec, ranks, 1);
  EXPECT_TRUE(placement.has_value()) << Format(placement.error().front());
  return placement.value_or(Placement());
}

TEST(Placement, ByRailFillsOneGpuOfEveryNodeFirst) {
  const BuiltFabric built = Build("rail-optimized:node=hgx-pcie,nodes=2,radix=4");
  const Placement all =
      Place(built, {.kind = PlacementKind::kByRail, .seed = {}, .listed = {}}, 16);
  const auto names = Names(built.fabric, all);
  EXPECT_EQ(names[0], "gpu:0/0");
  EXPECT_EQ(names[1], "gpu:1/0");
  EXPECT_EQ(names[2], "gpu:0/1");
  EXPECT_EQ(names[15], "gpu:1/7");
}

TEST(Placement, ByBlockDealsBlocksToUnitsInTurn) {
  const BuiltFabric built = Build("tree:arity=[4,2]");  // two leaves of four hosts
  const Placement placement =
      Place(built, {.kind = PlacementKind::kByBlock, .block = 2, .seed = {}, .listed = {}}, 8);
  EXPECT_THAT(Names(built.fabric, placement), ElementsAre("host-0", "host-1", "host-4", "host-5",
                                                          "host-2", "host-3", "host-6", "host-7"));
}

TEST(Placement, OwnSeedOverridesThatOfTheRun) {
  const BuiltFabric built = Build("single-switch:nodes=32");
  const PlacementSpec own{.kind = PlacementKind::kRandom, .seed = 7, .listed = {}};
  EXPECT_EQ(Names(built.fabric, Place(built, own, 32)),
            Names(built.fabric, *RandomPlacement(built.fabric, 32, 7)));
}

TEST(NodeList, IsWrittenAsSlurmDoes) {
  EXPECT_THAT(*ParseNodeList("node[001-003,010],login"),
              ElementsAre("node001", "node002", "node003", "node010", "login"));
  EXPECT_THAT(*ParseNodeList("r[1-2]n[8-9]x"), ElementsAre("r1n8x", "r1n9x", "r2n8x", "r2n9x"));
  EXPECT_THAT(*ParseNodeList("n[9-11]"), ElementsAre("n9", "n10", "n11"));
}

TEST(NodeList, NamesTheLetterWhereItIsWrong) {
  for (const auto& [text, letter] :
       {std::pair("", "letter 1:"), std::pair("node[3-1]", "letter 9:"),
        std::pair("node[1-2", "letter 9:"), std::pair("node[]", "letter 6:"),
        std::pair("a,,b", "letter 3:"), std::pair("node]", "letter 5:"),
        std::pair("n[0-999999999]", "more than 262144 names"),
        std::pair("a[1-9999]b[1-9999]", "more than 262144 names")}) {
    const auto names = ParseNodeList(text);
    ASSERT_FALSE(names.has_value()) << text;
    EXPECT_EQ(names.error()[0].code, "TL1422");
    EXPECT_THAT(names.error()[0].message, HasSubstr(letter)) << text;
  }
}

TEST(NodeList, StandsForTheGpusOfItsNodes) {
  const BuiltFabric built = Build("rail-optimized:node=hgx-pcie,nodes=4,radix=4");
  const auto names = ParseNodeList("node[02,01]");
  const auto endpoints = EndpointsOfNodes(built.fabric, *names);
  ASSERT_TRUE(endpoints.has_value());
  ASSERT_EQ(endpoints->size(), 16U);
  EXPECT_EQ(built.fabric.name(endpoints->front()), "gpu:2/0");
  EXPECT_EQ(built.fabric.name(endpoints->back()), "gpu:1/7");
  for (const char* wrong : {"node[4]", "login", "node[1],x1"}) {
    const auto none = EndpointsOfNodes(built.fabric, *ParseNodeList(wrong));
    ASSERT_FALSE(none.has_value()) << wrong;
    EXPECT_EQ(none.error()[0].code, "TL1423");
  }
}

TEST(PlacementFile, ListsEndpointsRankByRankOrByNumber) {
  const BuiltFabric built = Build("single-switch:nodes=4");
  const auto plain = ParsePlacementFile("host-3 # the first\n\nhost-1\n", "map", built.fabric);
  ASSERT_TRUE(plain.has_value());
  EXPECT_THAT(Names(built.fabric, Placement(*plain)), ElementsAre("host-3", "host-1"));
  const auto numbered = ParsePlacementFile("1=host-3\n0=host-2\n", "map", built.fabric);
  ASSERT_TRUE(numbered.has_value());
  EXPECT_THAT(Names(built.fabric, Placement(*numbered)), ElementsAre("host-2", "host-3"));
}

TEST(PlacementFile, NamesTheLineThatIsWrong) {
  const BuiltFabric built = Build("single-switch:nodes=4");
  for (const auto& [text, line] :
       {std::pair("host-0\nhost-9\n", 2), std::pair("host-0\nhost-0\n", 2),
        std::pair("host-0\n1=host-1\n", 2), std::pair("0=host-0\n0=host-1\n", 2),
        std::pair("x=host-0\n", 1), std::pair("", 0), std::pair("5=host-0\n", 0),
        std::pair("host-0 host-1\n", 1)}) {
    const auto placed = ParsePlacementFile(text, "map", built.fabric);
    ASSERT_FALSE(placed.has_value()) << text;
    EXPECT_EQ(placed.error()[0].code, "TL1424");
    EXPECT_EQ(placed.error()[0].where.line, line) << text;
  }
}

TEST(Fragmentation, CountsUnitsAndWhatClimbsToTheSpines) {
  // Two leaves of four hosts: packed, four ranks share a leaf; dealt out one by one, every step
  // around the ring climbs, and of six pairs the two on one leaf do not.
  const BuiltFabric built = Build("tree:arity=[4,2]");
  const Router router(built.fabric, {});
  const Fragmentation packed =
      MeasureFragmentation(router, built.unit_of_node, Place(built, {.seed = {}, .listed = {}}, 4));
  EXPECT_EQ(packed.units, 1U);
  EXPECT_EQ(packed.units_needed, 1U);
  EXPECT_EQ(packed.units_total, 2U);
  EXPECT_EQ(packed.ring_over_spines, 0);
  EXPECT_EQ(packed.pairs_over_spines, 0);
  const Fragmentation dealt = MeasureFragmentation(
      router, built.unit_of_node,
      Place(built, {.kind = PlacementKind::kByBlock, .block = 1, .seed = {}, .listed = {}}, 4));
  EXPECT_EQ(dealt.units, 2U);
  EXPECT_EQ(dealt.units_needed, 1U);
  EXPECT_EQ(dealt.ring_over_spines, 1);
  EXPECT_NEAR(dealt.pairs_over_spines, 4.0 / 6, 1e-12);
}

TEST(Fragmentation, OfRailsCountsCrossRailPairs) {
  // Two nodes of eight GPUs on a unit: pairs of two nodes on one rail share its leaf; 7/8 climb.
  const BuiltFabric built = Build("rail-optimized:node=dgx-h100,nodes=2");
  const Router router(built.fabric, {});
  const Fragmentation lies = MeasureFragmentation(router, built.unit_of_node,
                                                  Place(built, {.seed = {}, .listed = {}}, 16));
  EXPECT_EQ(lies.nodes, 2U);
  EXPECT_NEAR(lies.pairs_over_spines, 56.0 / 120, 1e-12);
  EXPECT_NEAR(lies.ring_over_spines, 2.0 / 16, 1e-12);
}

}  // namespace
}  // namespace trunkline
