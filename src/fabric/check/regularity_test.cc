#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "fabric/builders/testing.h"
#include "fabric/check/testing.h"
#include "fabric/import/testing.h"
#include "trunkline/fabric/check.h"

// What a fabric's own regularity, or another fabric, says of switches that are cut off and of NICs
// whose cables are missing or elsewhere.
namespace trunkline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = FabricFinding::Kind;

std::vector<std::string> Lines(const FabricCheck& check) {
  std::vector<std::string> lines;
  for (const FabricFinding& finding : check.findings) lines.push_back(Describe(finding));
  return lines;
}

// The fabric without the network cables that `drop` takes.
Fabric Without(const Fabric& fabric, const std::function<bool(const Link&)>& drop) {
  FabricBuilder builder;
  builder.CopyDevices(fabric);
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind == LinkKind::kNetwork && drop(link)) continue;
    builder.AddCable(link.from, link.to, link.rate, link.latency, link.kind);
  }
  return std::move(builder).Build();
}

Fabric WithoutUplinksOf(const Fabric& fabric, const std::string& name) {
  const DeviceId cut = fabric.Find(name)[0];
  return Without(fabric, [&](const Link& link) {
    return link.from == cut && fabric.device(link.to).tier > fabric.device(cut).tier;
  });
}

TEST(Regularity, ALeafWithoutUplinksLacksThoseOfTheOthers) {
  // Two units of 8 leaves below 8 spines, with 4 cables to each.
  const Fabric fabric = Build("rail-optimized:node=dgx-h100,nodes=64").fabric;
  const FabricCheck check = CheckFabric(WithoutUplinksOf(fabric, "leaf-3"), {}, nullptr);
  ASSERT_EQ(check.findings.size(), 8U);
  EXPECT_EQ(Describe(check.findings[0]), "leaf-3 misses 4 of 4 cables to spine-0");
  ASSERT_EQ(check.switches.size(), 1U);
  EXPECT_EQ(check.switches[0].cables_up, 0U);
  EXPECT_EQ(check.switches[0].cables_up_expected, 32U);
  EXPECT_EQ(check.mended.link_count(), fabric.link_count());
}

TEST(Regularity, ALeafOfAPodWithoutUplinksIsOfThePodThatLacksOne) {
  const Fabric fabric = Build("fat-tree:k=8").fabric;  // pods of 4 leaves and 4 spines
  EXPECT_THAT(Lines(CheckFabric(WithoutUplinksOf(fabric, "leaf-5"), {}, nullptr)),
              ElementsAre("leaf-5 misses 1 of 1 cables to spine-4",
                          "leaf-5 misses 1 of 1 cables to spine-5",
                          "leaf-5 misses 1 of 1 cables to spine-6",
                          "leaf-5 misses 1 of 1 cables to spine-7"));
}

TEST(Regularity, OfSwitchesWithoutUplinksInSeveralPodsTheNumberIsKnown) {
  const Fabric fabric = Build("fat-tree:k=8").fabric;
  const Fabric cut = WithoutUplinksOf(WithoutUplinksOf(fabric, "leaf-5"), "leaf-9");
  EXPECT_THAT(Lines(CheckFabric(cut, {}, nullptr)),
              ElementsAre("leaf-5 has no cable upwards, where its likes have 4",
                          "leaf-9 has no cable upwards, where its likes have 4"));
}

TEST(Regularity, ASpineWithoutCoresIsNamedToo) {
  const Fabric fabric = Build("fat-tree:k=8").fabric;
  const FabricCheck check = CheckFabric(WithoutUplinksOf(fabric, "spine-6"), {}, nullptr);
  ASSERT_FALSE(check.findings.empty());
  for (const FabricFinding& finding : check.findings) EXPECT_EQ(finding.from, "spine-6");
}

TEST(Regularity, NamesNothingInWholeFabricsOfEveryKind) {
  for (const char* node : {"host", "dgx-h100", "hgx-pcie"}) {
    for (const std::string& spec : SampleSpecs(node)) {
      EXPECT_THAT(Lines(CheckFabric(Build(spec).fabric, {}, nullptr)), IsEmpty()) << spec;
    }
  }
}

TEST(Regularity, ANicOfTheRightRailInTheWrongUnitIsMiscabled) {
  const Fabric fabric = Build("rail-optimized:node=dgx-h100,nodes=64").fabric;  // units of 32
  EXPECT_THAT(Lines(CheckFabric(Exchanged(fabric, "nic:1/2", "nic:40/2"), {}, nullptr)),
              ElementsAre("the cable of nic:1/2 leads to leaf-10, not leaf-2",
                          "the cable of nic:40/2 leads to leaf-2, not leaf-10"));
}

TEST(Regularity, ANicOnTheWrongRailInTheWrongUnitIsNamedOnce) {
  const Fabric fabric = Build("rail-optimized:node=dgx-h100,nodes=64").fabric;
  EXPECT_THAT(Lines(CheckFabric(Exchanged(fabric, "nic:1/2", "nic:40/3"), {}, nullptr)),
              ElementsAre("nic:1/2, of rail 2, is on leaf-11 of rail 3, not on leaf-2",
                          "nic:40/3, of rail 3, is on leaf-2 of rail 2, not on leaf-11"));
}

// Cables of four servers of two NICs each, without those that begin with `without`.
std::string FourServers(const std::string& without) {
  std::string text = "from,from_kind,from_host,to,to_port,to_kind\n";
  for (int node = 0; node < 4; ++node) {
    const std::string number = std::to_string(node);
    for (const char* rail : {"0", "1"}) {
      const std::string nic = "nic:" + number + "/" + rail;
      if (nic.starts_with(without)) continue;
      text += nic + ",nic,node-" + number + ",leaf-" + rail + "," + std::to_string(node + 1) +
              ",switch\n";
    }
  }
  return text;
}

// The check of a file of cables without the lines that begin with `without`, beside the whole.
FabricCheck CheckWithout(const std::string& spec, const std::string& without) {
  const auto whole = ExportFabric(Build(spec).fabric, "csv");
  EXPECT_TRUE(whole) << spec;
  std::string text;
  for (std::size_t at = 0; at < whole->size();) {
    const std::size_t end = whole->find('\n', at) + 1;
    const std::string line = whole->substr(at, end - at);
    if (!line.starts_with(without)) text += line;
    at = end;
  }
  EXPECT_LT(text.size(), whole->size()) << spec;
  const ImportedFabric found = Import(text);
  const ImportedFabric expected = Import(*whole);
  return CheckFabric(found.built.fabric, found.port_of_link, &expected.built.fabric,
                     expected.port_of_link);
}

std::vector<std::string> LinesWithout(const std::string& spec, const std::string& without) {
  return Lines(CheckWithout(spec, without));
}

TEST(Expected, EveryKindIsAsItself) {
  for (const char* node : {"host", "dgx-h100"}) {
    std::vector<std::string> specs = SampleSpecs(node);
    specs.push_back(std::string("full-mesh:nodes=4,node=") + node);
    for (const std::string& spec : specs) {
      const Fabric fabric = Build(spec).fabric;
      const FabricCheck check = CheckFabric(fabric, {}, &fabric);
      EXPECT_THAT(Lines(check), IsEmpty()) << spec;
      EXPECT_EQ(check.mended.link_count(), fabric.link_count()) << spec;
    }
  }
}

// Six cables join four NICs; whatever the names, one that is missing is one finding.
TEST(Expected, ACableBetweenNicsIsNamedWhereItIsMissing) {
  EXPECT_THAT(LinesWithout("full-mesh:nodes=4", "host-0,1,"),
              ElementsAre("host-0 misses 1 of 1 cables to host-1"));
  const Fabric whole = Build("full-mesh:nodes=4").fabric;
  const DeviceId first = whole.Find("host-0")[0];
  const DeviceId last = whole.Find("host-3")[0];
  const Fabric lacking =
      Without(whole, [&](const Link& link) { return link.from == first && link.to == last; });
  ASSERT_EQ(lacking.link_count() + 2, whole.link_count());
  FabricBuilder builder;
  builder.CopyDevices(lacking);
  for (std::size_t i = 0; i < lacking.device_count(); ++i) {
    builder.SetName(DeviceId(i), std::string("box-") + static_cast<char>('d' - i));
  }
  for (std::size_t i = 0; i < lacking.link_count(); i += 2) {
    const Link& link = lacking.link(LinkId(i));
    builder.AddCable(link.from, link.to, link.rate, link.latency, link.kind);
  }
  const FabricCheck check = CheckFabric(std::move(builder).Build(), {}, &whole);
  EXPECT_THAT(Lines(check), ElementsAre("box-d misses 1 of 1 cables to box-a"));
  EXPECT_EQ(check.mended.link_count(), whole.link_count());
}

TEST(Expected, ANicWithoutAnyOfItsCablesToOthersIsMissing) {
  EXPECT_THAT(LinesWithout("full-mesh:nodes=3", "host-0,"),
              ElementsAre("expected host-0 is missing"));
}

// The switch of the only server that is missing is a spine in its file, beside leaves.
TEST(Expected, OneServerThatIsMissingIsOneFindingWhereSwitchesHaveOneEach) {
  for (const char* spec : {"torus:sizes=[3,4]", "dragonfly:h=2,p=1"}) {
    EXPECT_THAT(LinesWithout(spec, "host-1,"),
                ElementsAre(testing::StartsWith("expected host-1 is missing on ")))
        << spec;
  }
}

// All 12 switches are there: that one of them is no leaf in its file is no other shape.
TEST(Expected, TheShapeOfATorusHasNoTiers) {
  const FabricCheck check = CheckWithout("torus:sizes=[3,4]", "host-1,");
  ASSERT_EQ(check.shape.size(), 3U);
  EXPECT_EQ(check.shape[0].found, 11U);
  EXPECT_EQ(check.shape[0].expected, 12U);
  EXPECT_EQ(check.shape[2].what, "switches");
  EXPECT_EQ(check.shape[2].found, 12U);
  EXPECT_EQ(check.shape[2].expected, 12U);
}

TEST(Expected, AServerThatAFileLacksIsNamedAsTheFileDoes) {
  const ImportedFabric whole = Import(FourServers("none"));
  const ImportedFabric lacking = Import(FourServers("nic:1/"));
  EXPECT_THAT(Lines(CheckFabric(lacking.built.fabric, lacking.port_of_link, &whole.built.fabric,
                                whole.port_of_link)),
              ElementsAre("expected nic:1/0 is missing on leaf-0 port 2",
                          "expected nic:1/1 is missing on leaf-1 port 2"));
}

TEST(Expected, ANicWithoutItsCableIsNamedWithLeafAndPort) {
  const ImportedFabric whole = Import(FourServers("none"));
  const ImportedFabric lacking = Import(FourServers("nic:2/1"));
  const FabricCheck check = CheckFabric(lacking.built.fabric, lacking.port_of_link,
                                        &whole.built.fabric, whole.port_of_link);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].kind, Kind::kMissingDevice);
  EXPECT_EQ(check.findings[0].to, "leaf-1");
  EXPECT_THAT(check.findings[0].ports, ElementsAre(3U));
}

}  // namespace
}  // namespace trunkline
