#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/yaml_reader.h"
#include "fabric/builders/testing.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The rows of ../shared/reference/NAME.json, or nothing where it is absent.
std::optional<YamlDocument> Reference(const std::string& name) {
  auto document = YamlDocument::ReadFile(
      std::string(TRUNKLINE_SOURCE_DIR) + "/../shared/reference/" + name + ".json",
      YamlStyle::kForeign);
  if (!document) return std::nullopt;
  return *std::move(document);
}

#define SKIP_WITHOUT(reference)                                             \
  if (!(reference)) {                                                       \
    GTEST_SKIP() << "../shared/reference is absent: nothing to compare to"; \
  }

std::size_t Cell(const YamlMap& row, const char* key) {
  std::int64_t value = -1;
  EXPECT_TRUE(row.Require(key, value)) << key;
  return static_cast<std::size_t>(value);
}

TEST(SuperPod, H100TableIsReproducedExactly) {
  auto reference = Reference("superpod-h100");
  SKIP_WITHOUT(reference);
  const auto rows = reference->root().List("rows");
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 4U);
  for (const YamlValue& value : *rows) {
    const YamlMap row = *value.AsMap();
    const std::size_t nodes = Cell(row, "nodes");
    const Counts counts =
        Count("rail-optimized:node=dgx-h100,radix=64,nodes=" + std::to_string(nodes));
    EXPECT_EQ(counts.gpus, Cell(row, "gpus"));
    EXPECT_EQ(counts.switches[1], Cell(row, "leaf"));
    EXPECT_EQ(counts.switches[2], Cell(row, "spine"));
    EXPECT_EQ(counts.switches[3], 0U);
    // The table counts four ports of the fabric manager beside those of the nodes.
    EXPECT_EQ(counts.host_cables + 4, Cell(row, "compute_plus_ufm_cables"));
    EXPECT_EQ(counts.switch_cables, Cell(row, "spine_leaf_cables"));
  }
}

TEST(SuperPod, B300TableIsReproducedExactlyButForItsMisprint) {
  auto reference = Reference("superpod-b300-xdr");
  SKIP_WITHOUT(reference);
  const auto rows = reference->root().List("rows");
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 5U);
  for (const YamlValue& value : *rows) {
    const YamlMap row = *value.AsMap();
    const std::size_t nodes = Cell(row, "nodes");
    const BuiltFabric built =
        Build("rail-optimized:node=dgx-b300,radix=144,nodes=" + std::to_string(nodes));
    const Counts counts = CountsOf(built.fabric);
    // 1,296 nodes are printed as 9,216 GPUs, which contradicts the row's own cables (10,368).
    EXPECT_EQ(counts.gpus, nodes == 1296 ? 10368 : Cell(row, "gpus_published"));
    EXPECT_EQ(counts.switches[1], Cell(row, "leaf"));
    EXPECT_EQ(counts.switches[2], Cell(row, "spine"));
    EXPECT_EQ(counts.host_cables, Cell(row, "node_leaf_cables"));
    EXPECT_EQ(counts.switch_cables, Cell(row, "leaf_spine_cables"));
    ASSERT_TRUE(built.bisection.has_value());
    EXPECT_EQ(built.bisection->lower, built.bisection->upper);
    EXPECT_EQ(built.bisection->upper,
              Rate::GigabitsPerSecond(800) * static_cast<std::int64_t>(counts.gpus / 2));
  }
}

TEST(SuperPod, SpinesAreOfTheSmallestNumberThatDividesTheUplinks) {
  // Own constants: 3 scale units of H100 need 12 spines' ports, but 32 uplinks divide by 16 only; 4
  // units of B300 need 16, but 72 uplinks divide by 18.
  EXPECT_EQ(Count("rail-optimized:node=dgx-h100,nodes=96").switches[2], 16U);
  EXPECT_EQ(Count("rail-optimized:node=dgx-b300,radix=144,nodes=288").switches[2], 18U);
}

TEST(SuperPod, CoresAppearWhereTheSpinesRadixIsExceeded) {
  // 8 units: 64 leaves fill the 64 ports of 32 spines. 16 units: four pods of 32 leaves and 32
  // spines, whose i-th spines share 2 cores (4 x 32 / 64).
  EXPECT_EQ(Count("rail-optimized:node=dgx-h100,nodes=256").switches,
            (std::array<std::size_t, 4>{0, 64, 32, 0}));
  EXPECT_EQ(Count("rail-optimized:node=dgx-h100,nodes=512").switches,
            (std::array<std::size_t, 4>{0, 128, 128, 64}));
  EXPECT_EQ(Count("rail-optimized:node=dgx-h100,nodes=2048").switches,
            (std::array<std::size_t, 4>{0, 512, 512, 256}));
}

TEST(DeepSeek, FatTreesHaveThePublishedSwitchesAndLinks) {
  // Insights into DeepSeek-V3 (ISCA 2025), table 3: endpoints, switches, links between switches.
  struct Row {
    const char* spec;
    std::size_t endpoints;
    std::size_t switches;
    std::size_t links;
  };
  for (const Row& row : {Row{"fat-tree:k=64,tiers=2", 2048, 96, 2048},
                         Row{"clos:nodes=2048,radix=64", 2048, 96, 2048},
                         Row{"fat-tree:node=dgx-h100,k=64,tiers=2,planes=8", 16384, 768, 16384},
                         Row{"clos:node=dgx-h100,nodes=2048,planes=8", 16384, 768, 16384},
                         Row{"fat-tree:k=64", 65536, 5120, 131072},
                         Row{"clos:nodes=65536,radix=64", 65536, 5120, 131072}}) {
    const Counts counts = Count(row.spec);
    EXPECT_EQ(counts.host_cables, row.endpoints) << row.spec;
    EXPECT_EQ(counts.switches[1] + counts.switches[2] + counts.switches[3], row.switches)
        << row.spec;
    EXPECT_EQ(counts.switch_cables, row.links) << row.spec;
  }
}

TEST(Hpn, PodHasThePublishedParts) {
  // Alibaba HPN (SIGCOMM 2024): 15 segments of 128 hosts, 8 rails, two 200 Gb/s ports a NIC to two
  // planes; a ToR has 60 x 400 Gb/s up (1.067:1), 60 aggregation switches a plane of 128 ports.
  const BuiltFabric built = Build(
      "rail-optimized:node=dgx-h100,nodes=1920,unit=128,ports=2,link=200 Gb/s,"
      "uplink=400 Gb/s,radix=[188,128],oversubscription=1.0667");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.gpus, 15360U);
  EXPECT_EQ(counts.switches[1], 240U);
  EXPECT_EQ(counts.switches[2], 120U);
  EXPECT_EQ(counts.switch_cables, 14400U);
  EXPECT_EQ(counts.host_cables, 2U * 15360U);
}

TEST(Llama3, ClusterHasThePublishedRacksAndPods) {
  // The Llama 3 Herd of Models, 3.3.1: two servers a rack, 192 racks a pod, 8 pods, 1:7 above.
  const BuiltFabric built = Build("tree:node=dgx-h100,arity=[2,192,8],taper=[1,7]");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.gpus, 24576U);
  EXPECT_EQ(counts.switches[1], 8U * 192U);
  EXPECT_EQ(counts.switches[2], 8U);
  // Half of the pods against the other: 4 x 3,072 x 400 Gb/s / 7.
  ASSERT_TRUE(built.bisection.has_value());
  EXPECT_NEAR(built.bisection->lower.bytes_per_second(), 4 * 3072 * 50e9 / 7, 1);
  EXPECT_EQ(built.bisection->lower, built.bisection->upper);
}

TEST(Hpcc, FatTreeHasTheCountsOfItsEvaluation) {
  auto reference = Reference("hpcc-fattree");
  SKIP_WITHOUT(reference);
  const YamlMap facts = *reference->root().Map("facts");
  const Counts counts =
      Count("fat-tree:children=[16,4,5],parents=[1,4,4],link=100 Gb/s,uplink=400 Gb/s");
  EXPECT_EQ(counts.nodes, Cell(facts, "hosts"));
  EXPECT_EQ(counts.switches[1], Cell(facts, "tor"));
  EXPECT_EQ(counts.switches[2], Cell(facts, "agg"));
  EXPECT_EQ(counts.switches[3], Cell(facts, "core"));
  EXPECT_EQ(counts.host_cables + counts.switch_cables, Cell(facts, "links"));
}

TEST(FatTree, OfRadixKHasTheCountsOfItsFormulas) {
  for (std::size_t k : {2U, 4U, 6U, 8U, 16U}) {
    const Counts counts = Count("fat-tree:k=" + std::to_string(k));
    EXPECT_EQ(counts.nodes, k * k * k / 4);
    EXPECT_EQ(counts.switches[1] + counts.switches[2] + counts.switches[3], 5 * k * k / 4);
    EXPECT_EQ(counts.switch_cables, k * k * k / 2);
  }
}

TEST(FatTree, BisectionIsHalfOfTheHostsRate) {
  for (int k : {4, 8, 16}) {
    const BuiltFabric built = Build("fat-tree:link=100 Gb/s,k=" + std::to_string(k));
    ASSERT_TRUE(built.bisection.has_value());
    EXPECT_EQ(built.bisection->lower, Rate::GigabitsPerSecond(100) * (k * k * k / 8));
    EXPECT_EQ(built.bisection->upper, built.bisection->lower);
  }
}

TEST(Clos, KeepsOversubscriptionAtEveryLeaf) {
  for (const char* ratio : {"1", "1.5", "2", "3", "7"}) {
    const BuiltFabric built =
        Build(std::string("clos:nodes=512,radix=64,oversubscription=") + ratio);
    std::map<DeviceId, std::pair<int, int>> down_and_up;
    for (std::size_t i = 0; i < built.fabric.link_count(); ++i) {
      const Link& link = built.fabric.link(LinkId(i));
      if (built.fabric.device(link.from).tier != 1) continue;
      auto& [down, up] = down_and_up[link.from];
      ++(built.fabric.device(link.to).kind == DeviceKind::kSwitch ? up : down);
    }
    for (const auto& [leaf, ports] : down_and_up) {
      EXPECT_LE(ports.first, std::stod(ratio) * ports.second) << ratio;
      EXPECT_LE(ports.first + ports.second, 64) << ratio;
    }
  }
}

TEST(Clos, NodeKeepsItsNicsOnOneLeaf) {
  const BuiltFabric built = Build("clos:node=dgx-h100,nodes=16,radix=64");
  for (std::uint32_t node = 0; node < 16; ++node) {
    for (int nic = 0; nic < 8; ++nic) {
      const auto id = built.fabric.Find("nic:" + std::to_string(node) + "/" + std::to_string(nic));
      ASSERT_EQ(id.size(), 1U);
      const Link& cable = built.fabric.link(built.fabric.out(id[0]).back());
      EXPECT_EQ(built.fabric.device(cable.to).local, node / 4);
    }
  }
}

TEST(Tree, TapersEveryUplink) {
  const BuiltFabric built = Build("tree:arity=[4,3],taper=[2],link=100 Gb/s");
  const auto leaf = built.fabric.Find("leaf-2");
  ASSERT_EQ(leaf.size(), 1U);
  EXPECT_EQ(built.fabric.link(built.fabric.out(leaf[0]).back()).rate, Rate::GigabitsPerSecond(200));
}

// The switches on the path, by number.
std::vector<std::uint32_t> SwitchesBetween(const Fabric& fabric, std::size_t src, std::size_t dst) {
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  const auto path = router.FindPath(fabric.endpoints()[src], fabric.endpoints()[dst], 0);
  EXPECT_TRUE(path.has_value());
  std::vector<std::uint32_t> switches;
  for (LinkId link : path.value_or(std::vector<LinkId>())) {
    const Device& to = fabric.device(fabric.link(link).to);
    if (to.kind == DeviceKind::kSwitch) switches.push_back(to.local);
  }
  return switches;
}

TEST(SimGrid, FatTreeOfTwoLevelsIsRoutedByDestinationModuloK) {
  // FAT_TREE "2;16,16;1,16;1,1": up to spine dst mod 16, which reaches every leaf.
  const BuiltFabric built = Build("fat-tree:children=[16,16],parents=[1,16]");
  ASSERT_EQ(built.fabric.endpoints().size(), 256U);
  for (std::size_t dst : {16U, 37U, 255U}) {
    EXPECT_THAT(SwitchesBetween(built.fabric, 3, dst), ElementsAre(0, dst % 16, dst / 16));
  }
  EXPECT_THAT(SwitchesBetween(built.fabric, 3, 9), ElementsAre(0));
}

TEST(SimGrid, FatTreeOfThreeLevelsDividesTheDestinationAtEveryLevel) {
  // FAT_TREE "3;16,16,16;1,16,16;1,1,1": spine dst mod 16 of the pod, then the (dst / 16) mod 16-th
  // of its 16 cores, numbered 16 apart.
  const BuiltFabric built = Build("fat-tree:children=[16,16,16],parents=[1,16,16]");
  ASSERT_EQ(built.fabric.endpoints().size(), 4096U);
  for (std::size_t dst : {300U, 1234U, 4095U}) {
    const std::size_t digit = dst % 16;
    EXPECT_THAT(
        SwitchesBetween(built.fabric, 0, dst),
        ElementsAre(0, digit, digit + 16 * (dst / 16 % 16), dst / 256 * 16 + digit, dst / 16));
  }
}

TEST(SimGrid, DragonflyGoesThroughTheOneLinkBetweenTwoGroups) {
  // DRAGONFLY "8,4;1,1;8,1;4": group i reaches group j from its router j, and arrives at router i.
  const BuiltFabric built = Build("dragonfly:groups=8,routers=8,ends=4,global=4,link=400 Gb/s");
  ASSERT_EQ(built.fabric.endpoints().size(), 256U);
  // Host 5: group 0, router 1. Host 4 x (8 x 3 + 6) = 120: group 3, router 6.
  EXPECT_THAT(SwitchesBetween(built.fabric, 5, 120), ElementsAre(1, 3, 24, 24 + 6));
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.switches[1], 64U);
  EXPECT_EQ(counts.switch_cables, 8U * 28 + 28);
  const auto global = built.fabric.Find("leaf-3");
  EXPECT_EQ(built.fabric.link(built.fabric.out(global[0]).back()).rate,
            Rate::GigabitsPerSecond(1600));
}

TEST(Build, RadixTooSmallNamesTheSmallestThatWorks) {
  const std::string error = ErrorOf("clos:nodes=1000,radix=8");
  EXPECT_THAT(error, HasSubstr("TL1403"));
  // Three tiers of radix k hold k^3/4 hosts: 16^3/4 = 1,024, and 14^3/4 = 686.
  EXPECT_THAT(error, HasSubstr("the smallest radix that works is 16"));
  EXPECT_TRUE(TryBuild("clos:nodes=1000,radix=16").has_value());
}

TEST(Build, RefusesWhatIsTooLargeBeforeAllocatingIt) {
  EXPECT_THAT(ErrorOf("fat-tree:k=4096"), HasSubstr("TL1404"));
  EXPECT_THAT(ErrorOf("tree:arity=[4096,4096,4096]"), HasSubstr("TL1404"));
  EXPECT_THAT(ErrorOf("single-switch:node=dgx-h100,nodes=262144"), HasSubstr("TL1404"));
  EXPECT_THAT(ErrorOf("fat-tree:children=[4,4,4],parents=[4096,4096,4096]"), HasSubstr("TL1404"));
}

TEST(Build, NamesWhatIsWrongWithASpec) {
  EXPECT_THAT(ErrorOf("clo:nodes=8"), HasSubstr("did you mean 'clos'?"));
  EXPECT_THAT(ErrorOf("clos"), HasSubstr("TL1405"));
  EXPECT_THAT(ErrorOf("clos:nodes=0"), HasSubstr("TL1108"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,radix=-1"), HasSubstr("TL1108"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,radix=1e30"), HasSubstr("TL11"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,link=400"), HasSubstr("TL1103"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,link=400 Tb/s"), HasSubstr("TL1108"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,oversubscription=[]"), HasSubstr("TL1107"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,nodes=9"), HasSubstr("TL1105"));
  EXPECT_THAT(ErrorOf("fat-tree:children=[4,4"), HasSubstr("TL1102"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,k=4"), HasSubstr("kind: fat-tree does"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,raddix=4"), HasSubstr("radix"));
  EXPECT_THAT(ErrorOf("clos:nodes=8,node=dgx-h10"), HasSubstr("'dgx-h100'"));
  EXPECT_THAT(ErrorOf("fat-tree:k=5"), HasSubstr("odd"));
  EXPECT_THAT(ErrorOf("fat-tree:k=4,nodes=17"), HasSubstr("room for 16"));
  EXPECT_THAT(ErrorOf("fat-tree:k=4,children=[2,2]"), HasSubstr("both say the shape"));
  EXPECT_THAT(ErrorOf("fat-tree:children=[2,2],parents=[1]"), HasSubstr("parents has 1 levels"));
  EXPECT_THAT(ErrorOf("tree:arity=[2,2],taper=[0]"), HasSubstr("TL1108"));
  // 64 uplinks of 64 x 10 Tb/s x 1000, both ways: 8.2e19 bit/s, and 64 bits hold 9.2e18.
  EXPECT_THAT(ErrorOf("tree:arity=[64,64],taper=[0.001],link=10 Tb/s"), HasSubstr("TL1404"));
  EXPECT_THAT(ErrorOf("clos:node=dgx-h100,nodes=8,planes=3"), HasSubstr("do not divide"));
}

// 64 hosts under switches of 16 ports: 8 a leaf, so 8 leaves and as many uplinks, two tiers.
TEST(Build, RefusesListsThatNameTiersThatAreNotThere) {
  EXPECT_THAT(ErrorOf("clos:nodes=64,radix=[16,16,16]"),
              HasSubstr("3 values of radix for a network of 2 tiers [TL1405]"));
  EXPECT_THAT(ErrorOf("clos:nodes=64,radix=16,oversubscription=[1,2]"),
              HasSubstr("2 values of oversubscription for a network of 2 tiers [TL1405]"));
  EXPECT_THAT(ErrorOf("rail-optimized:node=dgx-h100,nodes=16,radix=[64,64,64]"),
              HasSubstr("3 values of radix"));
  EXPECT_TRUE(TryBuild("clos:nodes=64,radix=[16,16],oversubscription=[1]"));
  EXPECT_TRUE(TryBuild("clos:nodes=64,radix=[16,16,16],oversubscription=[1,2],tiers=3"));
}

TEST(Build, ReadsRoutingAndLatenciesOfASpec) {
  const auto spec = ParseFabricSpec(
      "clos:nodes=8,radix=[4, 8],routing=ecmp,switch.latency=1 us,cable_latency=500 ns");
  ASSERT_TRUE(spec.has_value()) << Format(spec.error().front());
  EXPECT_EQ(spec->routing, RoutingPolicy::kEcmp);
  EXPECT_EQ(spec->switch_latency, Time::Microseconds(1));
  EXPECT_EQ(spec->cable_latency, Time::Nanoseconds(500));
}

TEST(Faults, FailedCableIsAbsentAndDegradedOneSlower) {
  const BuiltFabric built = Build("fat-tree:children=[8,8],parents=[1,8],link=100 Gb/s");
  const auto faulty = ApplyFaults(
      built.fabric, std::vector<StaticFault>{
                        {.target = "leaf-0/spine-0"},
                        {.target = "host-9", .kind = StaticFault::Kind::kDegrade, .fraction = 0.25},
                        {.target = "spine-1/leaf-2",
                         .kind = StaticFault::Kind::kDegrade,
                         .rate = Rate::GigabitsPerSecond(10)}});
  ASSERT_TRUE(faulty.has_value());
  EXPECT_EQ(faulty->link_count(), built.fabric.link_count() - 2);
  std::map<std::string, Rate> slow;
  for (std::size_t i = 0; i < faulty->link_count(); ++i) {
    const Link& link = faulty->link(LinkId(i));
    EXPECT_FALSE(faulty->name(link.from) == "leaf-0" && faulty->name(link.to) == "spine-0");
    if (link.rate < Rate::GigabitsPerSecond(100)) slow[faulty->name(link.from)] = link.rate;
  }
  EXPECT_EQ(slow.size(), 4U);  // two cables, both directions
  EXPECT_EQ(slow["host-9"], Rate::GigabitsPerSecond(25));
  EXPECT_EQ(slow["leaf-2"], Rate::GigabitsPerSecond(10));
}

TEST(Faults, RefusesUnknownTargetsAndValues) {
  const BuiltFabric built = Build("clos:nodes=64,radix=16");
  using Kind = StaticFault::Kind;
  for (const StaticFault& fault :
       {StaticFault{.target = "leaf-99"}, StaticFault{.target = "host-0/host-1"},
        StaticFault{.target = ""}, StaticFault{.target = "leaf-0", .kind = Kind::kDegrade},
        StaticFault{.target = "leaf-0", .kind = Kind::kDegrade, .fraction = 1.5},
        StaticFault{.target = "leaf-0", .kind = Kind::kDegrade, .fraction = 0},
        StaticFault{
            .target = "leaf-0", .kind = Kind::kDegrade, .rate = Rate::GigabitsPerSecond(900)}}) {
    const auto faulty = ApplyFaults(built.fabric, std::vector{fault});
    ASSERT_FALSE(faulty.has_value()) << fault.target;
    EXPECT_EQ(faulty.error()[0].code, "TL1406");
  }
}

}  // namespace
}  // namespace trunkline
