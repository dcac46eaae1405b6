#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two leaves, two spines with one cable each, two servers of two HCAs, one of them unnamed on the
// second leaf, and the SHARP node of a leaf.
constexpr const char* kSmall = R"(#
# Topology file: generated on Mon Nov 30 00:00:00 2026
#
vendid=0x2c9
switchguid=0x10(10)
Switch	5 "S-10"		# "MF0;leaf-a:MQM9700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-1"[1](1) 		# "node-1 mlx5_0" lid 11 4xNDR
[2]	"H-3"[1](3) 		# "node-2 mlx5_0" lid 13 4xNDR
[3]	"S-20"[1]		# "spine one" lid 3 4xNDR
[4]	"S-21"[1]		# "spine two" lid 4 4xHDR
[5]	"H-9"[1](9) 		# "Mellanox Technologies Aggregation Node" lid 19 4xNDR

Switch	4 "S-11"		# "MF0;leaf-b:MQM9700/U1" enhanced port 0 lid 2 lmc 0
[1]	"H-2"[1](2) 		# "node-1 mlx5_1" lid 12 4xNDR
[2]	"H-4"[1](4) 		# "MT4129 ConnectX7   Mellanox Technologies" lid 14 4xNDR
[3]	"S-20"[2]		# "spine one" lid 3 4xNDR

Switch	2 "S-20"		# "spine one" base port 0 lid 3 lmc 0
[1]	"S-10"[3]		# "leaf-a" lid 1 4xNDR
[2]	"S-11"[3]		# "leaf-b" lid 2 4xNDR

Switch	2 "S-21"		# "spine two" base port 0 lid 4 lmc 0
[1]	"S-10"[4]		# "leaf-a" lid 1 4xHDR

Ca	1 "H-1"		# "node-1 mlx5_0"
[1](1) 	"S-10"[1]		# lid 11 lmc 0 "leaf-a" lid 1 4xNDR

Ca	1 "H-2"		# "node-1 mlx5_1"
[1](2) 	"S-11"[1]		# lid 12 lmc 0 "leaf-b" lid 2 4xNDR

Ca	1 "H-3"		# "node-2 mlx5_0"
[1](3) 	"S-10"[2]		# lid 13 lmc 0 "leaf-a" lid 1 4xNDR

Ca	1 "H-4"		# "MT4129 ConnectX7   Mellanox Technologies"
[1](4) 	"S-11"[2]		# lid 14 lmc 0 "leaf-b" lid 2 4xNDR

Ca	1 "H-9"		# "Mellanox Technologies Aggregation Node"
[1](9) 	"S-10"[5]		# lid 19 lmc 0 "leaf-a" lid 1 4xNDR
)";

// `kSmall` with the first `from` replaced.
std::string PodWith(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

ImportedFabric Import(const std::string& text, const ImportOptions& options = {}) {
  auto imported = ImportFabric(text, "small.ibnet", options);
  EXPECT_TRUE(imported) << (imported ? "" : Format(imported.error().front()));
  return imported ? *std::move(imported) : ImportedFabric();
}

Diagnostic FirstProblem(const std::string& text) {
  const auto imported = ImportFabric(text, "small.ibnet");
  EXPECT_FALSE(imported);
  return imported ? Diagnostic() : imported.error().front();
}

std::string Place(const Diagnostic& problem) {
  return problem.code + " " + std::to_string(problem.where.line) + ":" +
         std::to_string(problem.where.column);
}

TEST(Ibnetdiscover, IsToldByItsContent) { EXPECT_EQ(RecogniseFabric(kSmall), "ibnetdiscover"); }

TEST(Ibnetdiscover, TiersAreDistancesFromTheServers) {
  const FabricCounts counts = CountParts(Import(kSmall).built.fabric);
  ASSERT_EQ(counts.tiers.size(), 2U);
  EXPECT_EQ(counts.tiers[0].switches, 2U);
  EXPECT_EQ(counts.tiers[1].switches, 2U);
  EXPECT_EQ(counts.host_cables, 4U);
  EXPECT_EQ(counts.switch_cables, 3U);
}

TEST(Ibnetdiscover, HcasOfOneHostNameAreOneServer) {
  const Fabric fabric = Import(kSmall).built.fabric;
  ASSERT_EQ(fabric.node_count(), 3U);
  const auto first = fabric.Find("node-1/mlx5_0");
  const auto second = fabric.Find("node-1/mlx5_1");
  ASSERT_FALSE(first.empty() || second.empty());
  EXPECT_EQ(fabric.device(first[0]).node, fabric.device(second[0]).node);
  EXPECT_EQ(fabric.device(second[0]).local, 1U);
  EXPECT_FALSE(fabric.Find("node-2").empty());
}

TEST(Ibnetdiscover, SwitchesAreCalledWhatTheySay) {
  const Fabric fabric = Import(kSmall).built.fabric;
  EXPECT_FALSE(fabric.Find("leaf-a").empty());
  EXPECT_FALSE(fabric.Find("spine one").empty());
}

TEST(Ibnetdiscover, RatesAreThoseOfWidthAndGeneration) {
  const ImportedFabric imported = Import(kSmall);
  const Fabric& fabric = imported.built.fabric;
  Rate slowest = Rate::GigabitsPerSecond(1000);
  for (LinkId link : fabric.out(fabric.Find("leaf-a")[0])) {
    slowest = std::min(slowest, fabric.link(link).rate);
  }
  EXPECT_EQ(slowest, Rate::GigabitsPerSecond(200));  // 4xHDR
  EXPECT_EQ(fabric.link(fabric.out(fabric.Find("node-2")[0])[0]).rate,
            Rate::GigabitsPerSecond(400));
}

TEST(Ibnetdiscover, SharpNodesAreNoServers) {
  const ImportedFabric imported = Import(kSmall);
  EXPECT_EQ(imported.built.fabric.endpoints().size(), 4U);
  EXPECT_THAT(imported.built.notes, Contains(HasSubstr("1 SHARP")));
}

TEST(Ibnetdiscover, PortsAreKept) {
  const ImportedFabric imported = Import(kSmall);
  const Fabric& fabric = imported.built.fabric;
  std::vector<std::uint32_t> ports;
  for (LinkId link : fabric.out(fabric.Find("leaf-a")[0])) {
    ports.push_back(imported.port_of_link[Index(link)]);
  }
  std::ranges::sort(ports);
  EXPECT_THAT(ports, ElementsAre(1, 2, 3, 4));
}

TEST(Ibnetdiscover, UplinksOfALeafAreOneTrunk) {
  const std::string of_leaf = "[3]\t\"S-20\"[2]\t\t# \"spine one\" lid 3 4xNDR\n";
  const std::string of_spine = "[1]\t\"S-10\"[4]\t\t# \"leaf-a\" lid 1 4xHDR\n";
  std::string text =
      PodWith(of_leaf, of_leaf + "[4]\t\"S-21\"[2]\t\t# \"spine two\" lid 4 4xHDR\n");
  text.insert(text.find(of_spine), "[2]\t\"S-11\"[4]\t\t# \"leaf-b\" lid 2 4xHDR\n");
  const Fabric fabric = Import(text).built.fabric;
  ASSERT_EQ(fabric.trunk_count(), 4U);  // up and down, of both leaves
  EXPECT_EQ(fabric.trunk_links(0).size(), 2U);
  EXPECT_EQ(fabric.link(fabric.trunk_links(0)[0]).from, fabric.Find("leaf-a")[0]);
}

TEST(Ibnetdiscover, ASpineThatLeadsNowhereElseIsInNoTrunk) {
  // Spine two has a cable to leaf-a alone.
  const Fabric fabric = Import(kSmall).built.fabric;
  EXPECT_EQ(fabric.trunk_count(), 0U);  // leaf-b has one uplink, leaf-a one that leads on
}

TEST(Ibnetdiscover, AnyOrderOfRecordsIsTheSameFabric) {
  std::string text = kSmall;
  const std::size_t spines = text.find("Switch	2");
  const std::size_t cas = text.find("Ca	1");
  const std::string turned =
      text.substr(cas) + "\n" + text.substr(spines, cas - spines) + text.substr(0, spines);
  const Fabric one = Import(text).built.fabric;
  const Fabric two = Import(turned).built.fabric;
  ASSERT_EQ(one.link_count(), two.link_count());
  for (std::size_t i = 0; i < one.link_count(); ++i) {
    EXPECT_EQ(one.name(one.link(LinkId(i)).from), two.name(two.link(LinkId(i)).from)) << i;
  }
}

TEST(Ibnetdiscover, WindowsLineEndsAndMixedCaseAreRead) {
  std::string text;
  for (char c : PodWith("Switch", "SWITCH")) text += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(Import(text).built.fabric.endpoints().size(), 4U);
}

TEST(Ibnetdiscover, ATemplateTakesTheHcasInTheOrderOfTheirNames) {
  const ImportedFabric imported = Import(kSmall, {.node = "hgx-pcie"});  // two NICs
  const Fabric& fabric = imported.built.fabric;
  EXPECT_EQ(fabric.node_count(), 1U);
  EXPECT_EQ(fabric.endpoints().size(), 8U);
  EXPECT_EQ(fabric.device(fabric.Find("node-1/mlx5_1")[0]).local, 1U);
  EXPECT_THAT(imported.built.notes, Contains(HasSubstr("node-2 (1)")));
}

TEST(Ibnetdiscover, FaultsOfAFileAreNamedWithTheirPlace) {
  EXPECT_EQ(Place(FirstProblem(PodWith("\"S-11\"", "\"S-10\""))), "TL1452 13:10");
  EXPECT_EQ(Place(FirstProblem(PodWith("[2]	\"H-3\"", "[1]	\"H-3\""))), "TL1452 8:5");
  EXPECT_EQ(Place(FirstProblem(PodWith("[3]	\"S-20\"", "[3]	\"S-10\""))), "TL1452 9:5");
  EXPECT_EQ(Place(FirstProblem(PodWith("4xNDR", "4xNDX"))), "TL1453 7:44");
  EXPECT_EQ(Place(FirstProblem(PodWith("lid 11 4xNDR", "lid 11 3xNDR"))), "TL1453 7:44");
  EXPECT_EQ(Place(FirstProblem(PodWith("lid 11 4xNDR", "lid 11 4xHDR"))), "TL1452 7:5");
  EXPECT_EQ(Place(FirstProblem(PodWith("[1]	\"H-1\"[1]", "[0]	\"H-1\"[1]"))),
            "TL1452 7:5");
  EXPECT_EQ(Place(FirstProblem(PodWith("[1]	\"H-1\"[1]", "[1]	H-1[1]"))), "TL1451 7:5");
  EXPECT_EQ(Place(FirstProblem(PodWith("Switch	5", "Switch	2"))), "TL1452 9:1");
  EXPECT_EQ(Place(FirstProblem(PodWith("Switch	4", "Bridge	4"))), "TL1451 13:1");
}

TEST(Ibnetdiscover, ATruncatedFileIsRefused) {
  const std::string text = kSmall;
  const Diagnostic problem = FirstProblem(text.substr(0, text.find("Ca	1 \"H-9\"")));
  EXPECT_EQ(problem.code, "TL1452");
  EXPECT_THAT(problem.message, HasSubstr("H-9"));
  EXPECT_THAT(problem.hint, HasSubstr("complete"));
}

TEST(Ibnetdiscover, ACableThatOneEndDoesNotListIsRefused) {
  EXPECT_EQ(Place(FirstProblem(PodWith("[2]	\"S-11\"[3]", "# "))), "TL1452 16:5");
}

TEST(Ibnetdiscover, ZeroBytesAndEndlessLinesAreNoText) {
  std::string zero = kSmall;
  zero[100] = '\0';
  EXPECT_EQ(FirstProblem(zero).code, "TL1102");
  EXPECT_EQ(FirstProblem(kSmall + std::string(300'000, 'x')).code, "TL1102");
}

TEST(Ibnetdiscover, AFileWithoutSwitchesHasNoFabric) {
  EXPECT_EQ(FirstProblem("Ca	1 \"H-1\"		# \"node HCA-1\"\n").code, "TL1454");
}

TEST(Ibnetdiscover, ARealPodHasThePartsCountedFromItsFile) {
  const std::string path =
      TRUNKLINE_SOURCE_DIR "/../shared/samples/fabrics/ndr-dgx-pod.ibnetdiscover";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto imported = ImportFabricFile(path);
  ASSERT_TRUE(imported) << Format(imported.error().front());
  const FabricCounts counts = CountParts(imported->built.fabric);
  ASSERT_EQ(counts.tiers.size(), 2U);
  EXPECT_EQ(counts.tiers[0].switches, 31U);
  EXPECT_EQ(counts.tiers[1].switches, 9U);
  EXPECT_EQ(counts.nics, 542U);
  EXPECT_EQ(counts.switch_cables, 532U);
  EXPECT_THAT(CountHops(imported->built.fabric).unreachable, 0);
}

TEST(ImportFabric, AnUnknownFileIsToldWhichFormatsAreKnown) {
  const auto imported = ImportFabric("hello\n", "hello.txt");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error()[0].code, "TL1450");
  EXPECT_THAT(imported.error()[0].hint, HasSubstr("ibnetdiscover"));
}

}  // namespace
}  // namespace trunkline
