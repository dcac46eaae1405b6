#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "fabric/import/testing.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/import.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

using testing::HasSubstr;

std::vector<std::string> SwitchNames(const Fabric& fabric) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto id = static_cast<DeviceId>(i);
    if (fabric.device(id).kind == DeviceKind::kSwitch) names.push_back(fabric.name(id));
  }
  return names;
}

struct RoundTrip {
  const char* spec;
  const char* node;  // empty: plain hosts
};

void PrintTo(const RoundTrip& trip, std::ostream* out) { *out << trip.spec << ' ' << trip.node; }

class WhatIsWritten : public testing::TestWithParam<RoundTrip> {};

TEST_P(WhatIsWritten, ReadsBackAsTheSameFabric) {
  const Fabric fabric = Build(GetParam().spec).fabric;
  for (const char* format : {"ibnetdiscover", "csv", "containerlab"}) {
    const auto text = ExportFabric(fabric, format);
    ASSERT_TRUE(text) << format;
    EXPECT_EQ(RecogniseFabric(*text), format);
    if (std::string(format) == "containerlab" && *GetParam().node != '\0') continue;  // no servers
    const ImportedFabric imported = Import(*text, {.node = GetParam().node});
    EXPECT_EQ(imported.format, format);
    EXPECT_EQ(CablesOf(imported.built.fabric), CablesOf(fabric)) << format;
    EXPECT_EQ(SwitchNames(imported.built.fabric), SwitchNames(fabric)) << format;
    EXPECT_EQ(imported.built.fabric.trunk_count(), fabric.trunk_count()) << format;
  }
}

// The path of every pair under forwarding tables and under a hash, which choose among a switch's
// links by their order.
std::vector<std::string> RoutesOf(const Fabric& fabric) {
  std::vector<std::string> routes;
  for (const RoutingPolicy policy : {RoutingPolicy::kMinHop, RoutingPolicy::kEcmp}) {
    const Router router(fabric, {.policy = policy});
    for (const DeviceId from : fabric.endpoints()) {
      for (const DeviceId to : fabric.endpoints()) {
        if (from == to) continue;
        std::string& route = routes.emplace_back();
        for (const LinkId link : *router.FindPath(from, to, 0)) {
          route += fabric.name(fabric.link(link).to) + " ";
        }
      }
    }
  }
  return routes;
}

// Lines but the first, which a list of cables begins with, in another order.
std::string Shuffled(const std::string& csv) {
  std::istringstream in(csv);
  std::string head;
  std::getline(in, head);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::ranges::sort(lines, {},
                    [](const std::string& line) { return std::hash<std::string>()(line); });
  for (const std::string& line : lines) head += "\n" + line;
  return head + "\n";
}

TEST(ExportFabric, RoutesAreThoseOfWhatWasWrittenWhateverTheOrderOfLines) {
  for (const char* spec :
       {"torus:sizes=[4,4]", "torus:sizes=[3,2,3],ends=2", "slim-fly:q=5,p=1", "dragonfly:h=2,g=5",
        "dragonfly-plus:h=2,g=3", "full-mesh:switches=5,ends=2,cables=2", "fat-tree:k=4"}) {
    const Fabric fabric = Build(spec).fabric;
    const std::vector<std::string> routes = RoutesOf(fabric);
    for (const char* format : {"csv", "ibnetdiscover", "containerlab"}) {
      const auto text = ExportFabric(fabric, format);
      ASSERT_TRUE(text) << format;
      EXPECT_TRUE(RoutesOf(Import(*text).built.fabric) == routes) << spec << " " << format;
    }
    const std::string csv = Shuffled(*ExportFabric(fabric, "csv"));
    EXPECT_TRUE(RoutesOf(Import(csv).built.fabric) == routes) << spec;
  }
}

// What the two ports of a NIC send goes on over the uplinks of both leaves.
TEST(ExportFabric, TwinLeavesBalanceTogetherAgain) {
  for (const char* spec : {"hpn:node=dgx-h100,hosts=2,segments=4,aggregation=1,nodes=8",
                           "clos:node=dgx-h100,radix=8,oversubscription=3,ports=2,nodes=6"}) {
    const Fabric fabric = Build(spec).fabric;
    const Fabric again = Import(*ExportFabric(fabric, "csv"), {.node = "dgx-h100"}).built.fabric;
    EXPECT_EQ(again.trunk_count(), fabric.trunk_count()) << spec;
    const auto all_cables_of = [](const Fabric& of) {
      std::size_t cables = 0;
      for (std::uint32_t t = 0; t < of.trunk_count(); ++t) cables += of.trunk_links(t).size();
      return cables;
    };
    EXPECT_EQ(all_cables_of(again), all_cables_of(fabric)) << spec;
  }
}

TEST_P(WhatIsWritten, ReadsBackFromTheTopologiesOfNs3) {
  const Fabric fabric = Build(GetParam().spec).fabric;
  const auto text = ExportFabric(fabric, "ns3");
  ASSERT_TRUE(text);
  EXPECT_EQ(RecogniseFabric(*text), "ns3");
  const ImportedFabric imported = Import(*text);
  const auto cables = CablesOf(imported.built.fabric);
  const FabricCounts found = CountParts(imported.built.fabric);
  const FabricCounts expected = CountParts(fabric);
  ASSERT_EQ(found.tiers.size(), expected.tiers.size());
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    EXPECT_EQ(found.tiers[i].switches, expected.tiers[i].switches);
    EXPECT_EQ(found.tiers[i].cables_up, expected.tiers[i].cables_up);
    EXPECT_EQ(found.tiers[i].up, expected.tiers[i].up);
  }
  EXPECT_EQ(found.host_cables, expected.host_cables);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, WhatIsWritten,
    testing::Values(RoundTrip{"clos:nodes=64,radix=16", ""},
                    RoundTrip{"clos:nodes=256,radix=16,tiers=3", ""}, RoundTrip{"fat-tree:k=6", ""},
                    RoundTrip{"single-switch:nodes=5", ""},
                    RoundTrip{"rail-optimized:node=dgx-h100,nodes=32,radix=32", "dgx-h100"}));

TEST(Simgrid, WhatIsWrittenReadsBackWhereNoCablesRunInParallel) {
  const Fabric fabric = Build("fat-tree:k=6").fabric;
  const auto text = ExportFabric(fabric, "simgrid");
  ASSERT_TRUE(text);
  EXPECT_EQ(RecogniseFabric(*text), "simgrid");
  EXPECT_EQ(CablesOf(Import(*text).built.fabric), CablesOf(fabric));
}

// Of three tiers the cores come back in another order.
TEST(Htsim, WhatIsWrittenReadsBackWhereItIsAFatTree) {
  for (const char* spec : {"clos:nodes=64,radix=16", "fat-tree:k=4",
                           "fat-tree:children=[4,2,2],parents=[1,2,3],cables=[1,1,2]"}) {
    const Fabric fabric = Build(spec).fabric;
    const auto text = ExportFabric(fabric, "htsim");
    ASSERT_TRUE(text) << spec << Format(text.error()[0]);
    EXPECT_EQ(RecogniseFabric(*text), "htsim");
    const Fabric again = Import(*text).built.fabric;
    const FabricCounts found = CountParts(again);
    const FabricCounts expected = CountParts(fabric);
    ASSERT_EQ(found.tiers.size(), expected.tiers.size()) << spec;
    if (found.tiers.size() == 2) {
      EXPECT_EQ(CablesOf(again), CablesOf(fabric)) << spec;
    }
    EXPECT_EQ(found.host_cables, expected.host_cables) << spec;
    for (std::size_t i = 0; i < found.tiers.size(); ++i) {
      EXPECT_EQ(found.tiers[i].switches, expected.tiers[i].switches) << spec;
      EXPECT_EQ(found.tiers[i].cables_up, expected.tiers[i].cables_up) << spec;
      EXPECT_EQ(found.tiers[i].up, expected.tiers[i].up) << spec;
    }
    EXPECT_EQ(CountHops(again).mean_switches, CountHops(fabric).mean_switches) << spec;
  }
}

TEST(Htsim, WhatIsNoFatTreeIsNotWritten) {
  struct Refused {
    const char* spec;
    const char* why;
  };
  for (const auto& [spec, why] :
       {Refused{"torus:sizes=[4,4]", "1 tiers"}, Refused{"single-switch:nodes=4", "1 tiers"},
        Refused{"dragonfly:h=1", "1 tiers"}, Refused{"dragonfly-plus:h=2", "switches of one tier"},
        Refused{"clos:nodes=16,radix=8,ports=2", "more cables than one"}}) {
    const auto text = ExportFabric(Build(spec).fabric, "htsim");
    ASSERT_FALSE(text) << spec;
    EXPECT_EQ(text.error()[0].code, "TL1458") << spec;
    EXPECT_THAT(text.error()[0].message, HasSubstr(why)) << spec;
  }
}

// Of the dragonfly that htsim's generator made: the neighbours of each router, as its list has
// them.
TEST(Htsim, TheCablesOfADragonflyAreThoseOfItsGenerator) {
  const std::string folder = TRUNKLINE_SOURCE_DIR "/../shared/samples/htsim/htsim-dragonfly/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const auto imported = ImportFabricFile(folder + "dragonfly.topo");
  ASSERT_TRUE(imported) << Format(imported.error()[0]);
  const Fabric& fabric = imported->built.fabric;
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    const Device& from = fabric.device(link.from);
    const Device& to = fabric.device(link.to);
    if (from.kind != DeviceKind::kSwitch || to.kind != DeviceKind::kSwitch) continue;
    found.emplace(std::min(from.local, to.local), std::max(from.local, to.local));
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
  std::ifstream list(folder + "dragonfly.adjlist");
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::uint32_t from = 0;
    words >> from;
    for (std::uint32_t to = 0; words >> to;) {
      expected.emplace(std::min(from, to), std::max(from, to));
    }
  }
  EXPECT_EQ(found.size(), 36 * 3 / 2 + 36);
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(CheckRouting(fabric, RoutingPolicy::kUgalL).empty());
}

TEST(ExportFabric, NamesAndHostsOfAFileThatLacksAServerAreKept) {
  const std::string whole = *ExportFabric(Build("rail-only:node=dgx-h100,nodes=3").fabric, "csv");
  std::istringstream lines(whole);
  std::string lacking;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",node-0,") == std::string::npos) lacking += line + "\n";
  }
  const auto again = ExportFabric(Import(lacking).built.fabric, "csv");
  ASSERT_TRUE(again);
  EXPECT_THAT(*again, HasSubstr("nic:1/0,1,nic,node-1,"));
  EXPECT_THAT(*again, HasSubstr("nic:2/7,1,nic,node-2,"));
}

TEST(ExportFabric, GraphsNameEveryDeviceAndCable) {
  const Fabric fabric = Build("clos:nodes=8,radix=8").fabric;
  const auto count = [](const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(*ExportFabric(fabric, "dot"), " -- "), fabric.link_count() / 2);
  EXPECT_EQ(count(*ExportFabric(fabric, "graphml"), "<edge "), fabric.link_count() / 2);
  EXPECT_EQ(count(*ExportFabric(fabric, "graphml"), "<node "), fabric.device_count());
}

TEST(ExportFabric, ASpeedThatInfinibandLacksIsRefused) {
  const auto text =
      ExportFabric(Build("clos:nodes=8,radix=8,link=333 Gb/s").fabric, "ibnetdiscover");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error()[0].code, "TL1458");
  EXPECT_THAT(text.error()[0].message, HasSubstr("333 Gb/s"));
}

}  // namespace
}  // namespace trunkline
