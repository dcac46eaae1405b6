#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "base/yaml_reader.h"
#include "fabric/builders/testing.h"

// Clusters as their papers and reference architectures count them.
namespace trunkline {
namespace {

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

TEST(SuperPod, ScaleUnitsMayDiffer) {
  // 72 nodes a unit as in the B300 tables, the last unit with 40: leaves as of five full units.
  const BuiltFabric built = Build("rail-optimized:node=dgx-b300,radix=144,units=[72,72,40,72,72]");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.nodes, 328U);
  EXPECT_EQ(counts.switches[1], 40U);
  EXPECT_EQ(built.unit_of_node[143], 1U);
  EXPECT_EQ(built.unit_of_node[183], 2U);
  EXPECT_EQ(built.unit_of_node[184], 3U);
  EXPECT_THAT(ErrorOf("rail-optimized:nodes=5,units=[2,2]"), HasSubstr("write nodes=4"));
  EXPECT_THAT(ErrorOf("rail-optimized:unit=2,units=[2,2]"), HasSubstr("give one of them"));
}

TEST(SuperPod, Gb200HasThePublishedGpus) {
  auto reference = Reference("superpod-gb200");
  SKIP_WITHOUT(reference);
  const YamlMap facts = *reference->root().Map("facts");
  const std::string racks = std::to_string(Cell(facts, "racks_per_SU"));
  EXPECT_EQ(Count("rail-optimized:node=gb200-nvl72,nodes=" + racks).gpus,
            Cell(facts, "gpus_per_SU"));
  const std::string most = std::to_string(Cell(facts, "max_racks"));
  EXPECT_EQ(Count("rail-optimized:node=gb200-nvl72,nodes=" + most).gpus, Cell(facts, "max_gpus"));
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

TEST(Hpn, KindHasThePublishedPodByItself) {
  auto reference = Reference("hpn");
  SKIP_WITHOUT(reference);
  const YamlMap topology = *reference->root().Map("topology");
  const YamlMap derived = *reference->root().Map("derived");
  const BuiltFabric built = Build("hpn:node=dgx-h100");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.gpus, Cell(topology, "gpus_per_pod"));
  EXPECT_EQ(counts.switches[1], Cell(derived, "tors_per_pod"));
  EXPECT_EQ(counts.switches[2], Cell(derived, "aggs"));
  EXPECT_EQ(counts.switch_cables, Cell(derived, "tor_agg_links"));
  EXPECT_EQ(counts.host_cables, 2 * Cell(topology, "gpus_per_pod"));
  EXPECT_EQ(built.fabric.link(built.fabric.out(built.fabric.Find("nic:0/0")[0]).back()).rate,
            Rate::GigabitsPerSecond(200));
  // Two pods: 8 x 400 Gb/s up of 120 down.
  const Counts two = Count("hpn:node=dgx-h100,nodes=3840");
  EXPECT_EQ(two.switches[3], 240U / 2);
  EXPECT_EQ(two.switch_cables, 2U * 14400 + 240U * 8);
}

TEST(Hpn, AggregationOfOneRailReachesThePublishedGpus) {
  // Table 4: eight rails of two planes each, 122,880 GPUs in two tiers.
  const Counts counts = Count("hpn:node=dgx-h100,shared_rails=1");
  EXPECT_EQ(counts.gpus, 122'880U);
  EXPECT_EQ(counts.switches[2], 16U * 60);
  EXPECT_EQ(counts.switches[3], 0U);
  EXPECT_THAT(ErrorOf("hpn:node=dgx-h100,shared_rails=3"), HasSubstr("shared_rails=8"));
  // A ToR of 51.2 Tb/s has 128 ports of 400 Gb/s: 64 for 128 hosts and 60 up; with 800 Gb/s NICs it
  // would take 128 and 60, unless ports are twice as fast.
  EXPECT_THAT(ErrorOf("hpn:node=dgx-b300"), HasSubstr("takes 188 ports"));
  EXPECT_THAT(ErrorOf("hpn:node=dgx-h100,hosts=137"), HasSubstr("radix=129"));
  EXPECT_EQ(Count("hpn:node=dgx-b300,uplink=800 Gb/s").switches,
            Count("hpn:node=dgx-h100").switches);
  EXPECT_THAT(ErrorOf("hpn:node=dgx-h100,segments=17"),
              HasSubstr("an aggregation switch takes 136"));
}

// 2,000 nodes in segments of 16 are 125, in pods of two 63; a core has eight cables to each.
TEST(Hpn, CoresHaveThePortsThatTheirPodsTake) {
  const std::string spec = "hpn:node=dgx-h100,hosts=16,segments=2";
  const std::string error = ErrorOf(spec + ",radix=68,nodes=2000");
  EXPECT_THAT(error, HasSubstr("a core switch takes 504 ports as fast as uplinks, and has 68"));
  EXPECT_THAT(error, HasSubstr("radix=504, or core_uplinks=1"));
  EXPECT_EQ(MostPorts(Build(spec + ",radix=504,nodes=2000").fabric), 504U);
  // One uplink each: 63 at a core, and of a ToR 8 for 16 hosts and 60 up.
  EXPECT_EQ(MostPorts(Build(spec + ",radix=68,nodes=2000,core_uplinks=1").fabric), 16U + 60);
  // 68 ports of cores are for eight pods of 32 nodes.
  EXPECT_THAT(error, HasSubstr("nodes=256"));
  EXPECT_TRUE(TryBuild(spec + ",radix=68,nodes=256"));
  EXPECT_FALSE(TryBuild(spec + ",radix=68,nodes=257"));
  // The published cluster beyond a pod: cores of 128 ports join 16 pods of 15,360 GPUs.
  EXPECT_TRUE(TryBuild("hpn:node=dgx-h100,nodes=30720"));
  EXPECT_THAT(ErrorOf("hpn:node=dgx-h100,nodes=30721"), HasSubstr("a core switch takes 136"));
}

TEST(MetaRoce, KindHasThePublishedRacksPodsAndTaper) {
  const BuiltFabric built = Build("meta-roce:node=dgx-h100");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.gpus, 24576U);
  EXPECT_EQ(counts.switches[1], 8U * 192U);
  ASSERT_TRUE(built.bisection.has_value());
  EXPECT_NEAR(built.bisection->lower.bytes_per_second(), 4 * 3072 * 50e9 / 7, 16);
  EXPECT_EQ(built.bisection->lower, built.bisection->upper);
  // A pod has full bisection: half of 3,072 times 400 Gb/s.
  const BuiltFabric pod = Build("meta-roce:node=dgx-h100,nodes=384");
  EXPECT_EQ(pod.bisection->lower, Rate::GigabitsPerSecond(400) * 1536);
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

}  // namespace
}  // namespace trunkline
