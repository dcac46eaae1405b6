#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "fabric/import/testing.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/import.h"
#include "trunkline/fabric/placement.h"

namespace trunkline {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kPorts =
    "CA 134 1 0x01 4x EDR - SW 17 10 0x10 ( 'o1 HCA-1' - 'leaf' )\n"
    "SW 17 10 0x10 4x EDR - CA 134 1 0x01 ( 'leaf' - 'o1 HCA-1' )\n"
    "CA 133 1 0x02 4x EDR - SW 17 11 0x10 ( 'o2 HCA-1' - 'leaf' )\n"
    "SW 17 11 0x10 4x EDR - CA 133 1 0x02 ( 'leaf' - 'o2 HCA-1' )\n"
    "SW 17 12 0x10 4x ??? 'leaf'\n";
constexpr const char* kLinks =
    "CA: node-1 HCA-1:\n"
    "      0x01      4    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  2   17[  ] \"leaf\" ( )\n"
    "CA: node-2 HCA-1:\n"
    "      0x02      5    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  2   18[  ] \"leaf\" ( )\n"
    "Switch: 0x10 MF0;leaf:SB7700/U1:\n"
    "           2   17[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  4    1[  ] \"node-1 HCA-1\" ( "
    ")\n"
    "           2   18[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  5    1[  ] \"node-2 HCA-1\" ( "
    ")\n"
    "           2   19[  ] ==(         Down/ Polling)==>             [  ] \"\" ( )\n";
// As iblinkinfo --line prints it (infiniband-diags 44, over ibsim).
constexpr const char* kLine =
    "0x0001 \"              node-1 HCA-1\"      4    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==> "
    " "
    "0x0010      2   17[  ] \"leaf\" ( )\n"
    "0x0002 \"              node-2 HCA-1\"      5    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==> "
    " "
    "0x0010      2   18[  ] \"leaf\" ( )\n"
    "0x0010 \"       MF0;leaf:SB7700/U1\"      2   17[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  "
    "0x0001      4    1[  ] \"node-1 HCA-1\" ( )\n"
    "0x0010 \"       MF0;leaf:SB7700/U1\"      2   18[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  "
    "0x0002      5    1[  ] \"node-2 HCA-1\" ( )\n"
    "0x0010 \"       MF0;leaf:SB7700/U1\"      2   19[  ] ==(                Down/ Polling)==>     "
    "  "
    "      [  ] \"\" ( )\n";
// Of it the lines of HCAs alone: that 0x0010 is a switch shows in its two ports.
constexpr const char* kHcaLines =
    "0x0001 \"node-1 HCA-1\" 4 1[  ] ==( 4X 106.25 Gbps Active/ LinkUp)==> "
    "0x0010 2 1[  ] \"leaf\" ( )\n"
    "0x0002 \"node-2 HCA-1\" 5 1[  ] ==( 4X 106.25 Gbps Active/ LinkUp)==> "
    "0x0010 2 2[  ] \"leaf\" ( )\n";
// The tree is the default of the cluster, though it comes second.
constexpr const char* kSlurmYaml =
    "---\n"
    "- topology: racks\n"
    "  block:\n"
    "    block_sizes: [4, 8]\n"
    "    blocks:\n"
    "      - {block: b1, nodes: \"x[1-4]\"}\n"
    "- topology: pod\n"
    "  cluster_default: true\n"
    "  tree:\n"
    "    switches:\n"
    "      - {switch: top, children: \"leaf-[1-2]\"}\n"
    "      - {switch: leaf-1, nodes: \"n[01-02,4]\"}\n"
    "      - switch: leaf-2\n"
    "        nodes: n[05-06]\n";
constexpr const char* kTree =
    "# a tree\n"
    "switchname=top Switches=leaf-[1-2]\n"
    "SwitchName=leaf-1 Nodes=n[01-02,4] LinkSpeed=100\n"
    "SwitchName=leaf-2 Nodes=n[05-06]\n";
constexpr const char* kNs3 =
    "5 2 4\n3 4\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 4 "
    "100Gbps 1000ns 0\n3 4 400Gbps 1us 0\nFirst line: nodes …\n";
constexpr const char* kSimai =
    "8 2 2 2 8 H100\n4 5 6 7\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
    "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n"
    "1 7 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n";
constexpr const char* kHtsim =
    "Nodes 8\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n"
    "Downlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n"
    "Downlink_Latency_ns 1000\nBundle 1\n\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
    "Downlink_Latency_ns 1000\nBundle 2\n";
// Two routers a group, one global cable each: three groups in a ring.
constexpr const char* kDragonfly =
    "# Dragonfly\np 2\na 2\nh 1\n\nSwitch_latency_ns 500\nLink_speed_global_Gbps 400\n"
    "Link_speed_local_Gbps 200\nLink_speed_host_Gbps 100\n\nLink_latency_global_ns 500\n"
    "Link_latency_local_ns 25\nLink_latency_host_ns 30\n";
constexpr const char* kCluster =
    "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\">\n"
    "<cluster id=\"c\" prefix=\"n\" radical=\"0-15\" suffix=\"\" speed=\"1Gf\" bw=\"50GBps\"\n"
    " lat=\"500ns\" topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,1\"/></zone></platform>\n";
constexpr const char* kRouted =
    "<platform version=\"4.1\"><zone id=\"w\" routing=\"Floyd\">\n"
    "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/><router id=\"s\"/>\n"
    "<link id=\"l1\" bandwidth=\"100Gbps\" latency=\"1us\"/>\n"
    "<link id=\"l2\" bandwidth=\"12.5GBps\" latency=\"1us\"/>\n"
    "<route src=\"a\" dst=\"s\"><link_ctn id=\"l1\"/></route>\n"
    "<route src=\"s\" dst=\"b\"><link_ctn id=\"l2\"/></route></zone></platform>\n";
constexpr const char* kLab =
    "name: lab\ntopology:\n  nodes:\n    leaf1: {kind: nokia_srlinux}\n    h1: {kind: linux}\n"
    "    h2: {kind: linux}\n  links:\n    - endpoints: [\"leaf1:e1-1\", \"h1:eth1\"]\n"
    "    - endpoints: [\"leaf1:e1-2\", \"h2:eth1\"]\n";
constexpr const char* kAstra =
    "topology: [ Switch, Ring ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 400, 50 ]\nlatency: [ 936.25, "
    "1000 ]\n";
constexpr const char* kCsv =
    "from,to,rate\nnode1,leaf,100 Gb/s\nnode2,leaf,100 Gb/s\nleaf,spine,400 Gb/s\nnode3,spine,100 "
    "Gb/s\n";

struct Sample {
  const char* format;
  const char* text;
  std::uint64_t nodes;
  std::uint64_t nics;
  std::uint64_t host_cables;
  std::uint64_t switch_cables;
  Rate rate;  // of the first end's first cable
};

// How a failure and ctest name a sample.
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.format; }

class EveryFormat : public testing::TestWithParam<Sample> {};

TEST_P(EveryFormat, IsToldByItsContentAndHasThePartsItLists) {
  const Sample& sample = GetParam();
  EXPECT_EQ(RecogniseFabric(sample.text), sample.format);
  const ImportedFabric imported = Import(sample.text);
  EXPECT_EQ(imported.format, sample.format);
  const Fabric& fabric = imported.built.fabric;
  const FabricCounts counts = CountParts(fabric);
  EXPECT_EQ(counts.nodes, sample.nodes);
  EXPECT_EQ(counts.nics, sample.nics);
  EXPECT_EQ(counts.host_cables, sample.host_cables);
  EXPECT_EQ(counts.switch_cables, sample.switch_cables);
  EXPECT_EQ(std::get<2>(CablesOf(fabric).front()), sample.rate.bits_per_second());
}

TEST_P(EveryFormat, ReadsWindowsLineEnds) {
  std::string text;
  for (const char* c = GetParam().text; *c != '\0'; ++c)
    text += *c == '\n' ? "\r\n" : std::string(1, *c);
  EXPECT_EQ(CountParts(Import(text, {.format = GetParam().format}).built.fabric).nics,
            GetParam().nics);
}

TEST_P(EveryFormat, CutAnywhereIsReadOrRefusedWithAReason) {
  const std::string text = GetParam().text;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto imported =
        ImportFabric(text.substr(0, length), "cut", {.format = GetParam().format});
    if (imported) continue;
    ASSERT_FALSE(imported.error().empty()) << length;
    EXPECT_FALSE(imported.error()[0].message.empty()) << length;
    EXPECT_EQ(imported.error()[0].where.file, "cut") << Format(imported.error()[0]);
  }
}

TEST_P(EveryFormat, ZeroBytesAndEndlessLinesAreRefused) {
  std::string zero = GetParam().text;
  zero.insert(zero.size() / 2, 1, '\0');
  EXPECT_FALSE(ImportFabric(zero, "zero", {.format = GetParam().format}));
  const std::string endless = std::string(300'000, 'x') + "\n" + GetParam().text;
  EXPECT_FALSE(ImportFabric(endless, "endless", {.format = GetParam().format}));
}

constexpr Rate kGb100 = Rate::GigabitsPerSecond(100);
INSTANTIATE_TEST_SUITE_P(
    Formats, EveryFormat,
    testing::Values(Sample{"ibnetdiscover-p", kPorts, 2, 2, 2, 0, kGb100},
                    Sample{"iblinkinfo", kLinks, 2, 2, 2, 0, Rate::GigabitsPerSecond(400)},
                    Sample{"iblinkinfo", kLine, 2, 2, 2, 0, Rate::GigabitsPerSecond(400)},
                    Sample{"iblinkinfo", kHcaLines, 2, 2, 2, 0, Rate::GigabitsPerSecond(400)},
                    Sample{"slurm-yaml", kSlurmYaml, 5, 5, 5, 2, Rate::GigabitsPerSecond(400)},
                    Sample{"slurm", kTree, 5, 5, 5, 2, Rate::GigabitsPerSecond(400)},
                    Sample{"ns3", kNs3, 3, 3, 3, 1, kGb100},
                    Sample{"ns3", kSimai, 2, 4, 4, 0, Rate::GigabitsPerSecond(400)},
                    Sample{"htsim", kHtsim, 8, 8, 8, 24, Rate::GigabitsPerSecond(200)},
                    Sample{"htsim-dragonfly", kDragonfly, 12, 12, 12, 6, kGb100},
                    Sample{"simgrid", kCluster, 16, 16, 16, 8, Rate::GigabitsPerSecond(400)},
                    Sample{"simgrid", kRouted, 2, 2, 2, 0, kGb100},
                    Sample{"containerlab", kLab, 2, 2, 2, 0, Rate::GigabitsPerSecond(400)},
                    Sample{"astra-sim", kAstra, 32, 32, 32, 64,
                           Rate::BitsPerSecond((400LL + 2 * 50) << 33)},
                    Sample{"csv", kCsv, 3, 3, 3, 1, kGb100}));

TEST(HtsimDragonfly, LatenciesThatAreNotGivenAreOursAndTold) {
  const ImportedFabric imported = Import(
      "p 1\na 2\nh 1\nLink_speed_host_Gbps 200\nLink_speed_local_Gbps 200\n"
      "Link_speed_global_Gbps 400\nLink_latency_local_ns 30\n");
  const Fabric& fabric = imported.built.fabric;
  const auto path = TracePath(Router(fabric, {}), fabric.name(fabric.endpoints()[0]),
                              fabric.name(fabric.endpoints()[1]));
  ASSERT_TRUE(path);
  // Two cables of 50 ns, one of 30 ns and two switches of 400 ns.
  EXPECT_EQ(path->latency, Time::Nanoseconds(2 * 50 + 30 + 2 * 400));
  EXPECT_THAT(imported.built.notes, Contains(HasSubstr("no switch_latency_ns")));
}

TEST(Csv, QuotesMayStandAroundCells) {
  const ImportedFabric imported = Import("\"from\",\"to\"\n\" node1\",\"leaf\"\nnode2 , leaf\n");
  EXPECT_EQ(CountParts(imported.built.fabric).nics, 2U);
}

TEST(Csv, AServersPortMayBeCalledWhatInventoriesCallIt) {
  for (const char* kind : {"nic", "host", "HCA", "ca", "server"}) {
    const ImportedFabric imported = Import(std::string("from,to,from_kind,to_kind\na,leaf,") +
                                           kind + ",switch\nb,leaf," + kind + ",switch\n");
    EXPECT_EQ(CountParts(imported.built.fabric).nics, 2U) << kind;
  }
}

// What a lab gives to the machine that it runs on is none of its cables.
TEST(Containerlab, LinksOutOfTheLabAreSetAside) {
  const ImportedFabric imported = Import(
      "name: lab\ntopology:\n  nodes:\n    leaf: {kind: srl}\n    a: {kind: linux}\n"
      "    b: {kind: linux}\n  links:\n    - endpoints: [\"leaf:e1-1\", \"a:eth1\"]\n"
      "    - endpoints: [leaf, b]\n    - endpoints: [\"leaf:e1-9\", \"host:veth9\"]\n"
      "    - endpoints: [\"mgmt-net:leaf-m\", \"leaf:e1-8\"]\n"
      "    - {type: macvlan, endpoint: {node: leaf, interface: e1-7}, host-interface: eno0}\n"
      "    - {type: vxlan, endpoint: {node: a, interface: eth7}, remote: 10.0.0.9, vni: 3}\n");
  EXPECT_EQ(CountParts(imported.built.fabric).nics, 2U);
  EXPECT_EQ(CountParts(imported.built.fabric).host_cables, 2U);
  EXPECT_THAT(imported.built.notes, testing::Contains(testing::HasSubstr("4 links lead out of")));
}

TEST(Csv, AHostIsKnownByItsNicsWhoseNamesLeaveItOut) {
  const Fabric fabric = Import(
                            "from,to,from_kind,from_host\n"
                            "port-a,leaf,nic,node12\nport-b,leaf,nic,node12\n"
                            "node13 HCA-1,leaf,nic,node13\nnode13 HCA-2,leaf,nic,node13\n"
                            "port-c,leaf,nic,node1\n")
                            .built.fabric;
  EXPECT_EQ(fabric.Find("node12/port-a").size(), 1U);
  EXPECT_EQ(fabric.Find("node13 HCA-1").size(), 1U);
  EXPECT_EQ(fabric.Find("node1").size(), 1U);
  const auto ends = EndpointsOfNodes(fabric, std::vector<std::string>{"node12", "node1"});
  ASSERT_TRUE(ends) << Format(ends.error().front());
  EXPECT_EQ(ends->size(), 3U);
}

TEST(Simai, GpusKeepTheirNvlinks) {
  const Fabric fabric = Import(kSimai).built.fabric;
  EXPECT_EQ(fabric.endpoints().size(), 4U);
  EXPECT_EQ(fabric.endpoints_per_node(), 2U);
  const auto path = TracePath(Router(fabric, {}), "gpu:0/0", "gpu:0/1");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->latency, Time::Nanoseconds(50));  // two NVLinks of 25 ns
  EXPECT_EQ(path->limit, Rate::GigabitsPerSecond(2880));
}

TEST(Ns3, DelaysAreThoseOfTheLinksAlone) {
  const auto path = TracePath(Router(Import(kNs3).built.fabric, {}), "host-0", "host-2");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->latency, Time::Microseconds(3));
}

TEST(AstraSim, ARingOfOneDimensionIsAsLongAsItsShorterWay) {
  const ImportedFabric imported =
      Import("topology: [ Ring ]\nnpus_count: [ 16 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n");
  const auto path = TracePath(Router(imported.built.fabric, {}), "npu-0", "npu-13");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->latency, Time::Nanoseconds(3 * 500));
}

struct Fault {
  const char* format;
  std::string text;
  const char* place;
};

TEST(Formats, ServersWithoutACableAreNamed) {
  const std::string text =
      With(kLab, "    h2: {kind: linux}\n", "    h2: {kind: linux}\n    h3: {kind: linux}\n");
  const ImportedFabric imported = Import(text);
  EXPECT_EQ(imported.built.fabric.node_count(), 2U);
  ASSERT_FALSE(imported.built.notes.empty());
  EXPECT_EQ(imported.built.notes[0], "1 server has no network cable and is set aside: h3");
}

TEST(Formats, WhatIsWrongIsNamedWithItsPlace) {
  const std::vector<Fault> faults = {
      {"ibnetdiscover-p", With(kPorts, "4x EDR", "4x EDX"), "TL1453 1:18"},
      {"ibnetdiscover-p", With(kPorts, "133 1", "133 x"), "TL1451 3:8"},
      {"iblinkinfo", With(kLinks, "106.25", "106.75x"), "TL1453 2:28"},
      {"slurm", With(kTree, "[05-06]", "[06-05]"), "TL1451 4:25"},
      {"slurm", With(kTree, "leaf-2 Nodes", "leaf-1 Nodes"), "TL1452 4:12"},
      {"slurm", With(kTree, "SwitchName=leaf-2", "SwitchName=leaf-3"), "TL1452 2:0"},
      {"ns3", With(kNs3, "0 3 100Gbps", "0 3 100Gb"), "TL1453 3:5"},
      {"ns3", With(kNs3, "0 3 100", "0 0 100"), "TL1452 3:3"},
      {"ns3", With(kNs3, "5 2 4", "5 2 5"), "TL1451 7:1"},
      {"ns3", With(kNs3, "\n3 4", "\n3 9"), "TL1451 2:3"},
      {"ns3", With(kNs3, "\n3 4", "\n3 3"), "TL1452 2:3"},
      {"htsim", With(kHtsim, "Radix_Up", "Radix_Upp"), "TL1451 8:1"},
      {"htsim", With(kHtsim, "Bundle 2", "Bundle 3"), "TL1452 14:1"},
      {"htsim", "Nodes 9\n" + std::string(kHtsim), "TL1452 2:1"},
      {"htsim", With(kHtsim, "Podsize 4", "Podsize 3"), "TL1452 3:1"},
      {"htsim-dragonfly", With(kDragonfly, "h 1", "h 0"), "TL1452 4:1"},
      {"htsim-dragonfly", With(kDragonfly, "p 2", "p two"), "TL1451 2:3"},
      {"htsim-dragonfly", With(kDragonfly, "a 2", "a 20000"), "TL1452 3:1"},
      {"htsim-dragonfly", With(kDragonfly, "h 1", "p 1"), "TL1452 4:1"},
      {"simgrid", With(kCluster, "50GBps", "50XBps"), "TL1453 2:69"},
      {"simgrid", With(kCluster, "2;4,4", "3;4,4"), "TL1452 3:51"},
      {"simgrid", With(kCluster, "</zone>", "</zonk>"), "TL1451 3:69"},
      {"simgrid", std::string(kCluster) + "and more", "TL1451 4:1"},
      {"simgrid", std::string(kCluster) + "<platform/>", "TL1451 4:2"},
      {"simgrid", With(kRouted, "dst=\"s\"", "dst=\"t\""), "TL1452 5:2"},
      {"simgrid", With(kCluster, "radical=\"0-15\"", "radical=\"0-15,3\""), "TL1452 2:37"},
      {"simgrid", With(kRouted, "\"l2\" b", "\"l1\" b"), "TL1452 4:11"},
      {"simgrid", With(kRouted, "link_ctn id=\"l2\"", "link_ctn id=\"l1\""), "TL1452 6:2"},
      {"simgrid", With(kRouted, "dst=\"b\"", "dst=\"b\" symmetrical=\"NO\""), "TL1452 6:2"},
      {"containerlab", With(kLab, "h1:eth1", "h3:eth1"), "TL1452 8:33"},
      {"containerlab", With(kLab, "e1-2", "e1-1"), "TL1452 9:19"},
      {"astra-sim", With(kAstra, "[ 8, 4 ]", "[ 8 ]"), "TL1452 2:13"},
      {"csv", With(kCsv, "from,to", "from,tu"), "TL1451 1:6"},
      {"csv", With(kCsv, "leaf,spine", "leaf,leaf"), "TL1452 4:6"},
      {"csv", With(kCsv, "node2", "\"node2"), "TL1451 3:1"},
      {"csv", With(kCsv, "node2", "\"node,2\""), "TL1451 3:1"},
      {"csv", With(kCsv, "node2", "no\"de2"), "TL1451 3:3"},
      {"iblinkinfo", With(kLine, "0x0002", "2"), "TL1451 2:18"},
      {"slurm-yaml", With(kSlurmYaml, "n[01-02,4]", "n[02-01]"), "TL1451 12:33"},
      {"slurm-yaml", With(kSlurmYaml, "switch: leaf-2", "switch: leaf-1"), "TL1452 13:9"},
      {"slurm-yaml", With(kSlurmYaml, "switch: leaf-2", "switch: leaf-3"), "TL1452 11:33"},
      {"slurm-yaml", "- topology: a\n  flat: true\n", "TL1451 1:3"},
      {"slurm-yaml", "- topology: a\n  tree: {}\n", "TL1106 2:9"},
      {"ns3", With(kNs3, "1000ns 0\n1 3", "1000ns 0.01\n1 3"), "TL1455 3:20"},
      {"ns3", With(kNs3, "1000ns 0\n1 3", "1000ns nan\n1 3"), "TL1453 3:20"},
      {"csv", "from,to,from_kind,to_kind\nh1,s1,nic,switch\nh2,h1,nic,switch\n", "TL1452 3:11"},
  };
  for (const Fault& fault : faults) {
    const auto imported = ImportFabric(fault.text, "file", {.format = fault.format});
    ASSERT_FALSE(imported) << fault.place;
    const Diagnostic& problem = imported.error()[0];
    EXPECT_EQ(problem.code + " " + std::to_string(problem.where.line) + ":" +
                  std::to_string(problem.where.column),
              fault.place)
        << Format(problem);
    EXPECT_FALSE(problem.hint.empty());
  }
}

// The sample files of other projects, where they lie beside the source: sizes as the files say.
TEST(Samples, OtherToolsFilesAreRead) {
  const std::string folder = TRUNKLINE_SOURCE_DIR "/../shared/samples/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  struct Expected {
    const char* file;
    std::uint64_t nics;
    std::uint64_t switch_cables;
  };
  for (const Expected& expected :
       std::vector<Expected>{{"simai/hpcc_fat_320host.txt", 320, 480 - 320},
                             {"simai/conweave_leaf_spine_128_100G_OS2.txt", 128, 192 - 128},
                             {"simai/conweave_fat_k8_100G_OS2.txt", 256, 512 - 256},
                             {"simai/Spectrum-X_128g_8gps_100Gbps_A100", 128, 64},
                             {"htsim/csg-htsim/fat_tree_1024.topo", 1024, 2048},
                             {"simgrid/fattree_256.xml", 256, 256},
                             {"simgrid/dragonfly_64.xml", 64, 4 * 6 + 6},
                             {"fabrics/slurm-topology-tree.conf", 96, 18}}) {
    const auto imported = ImportFabricFile(folder + expected.file);
    ASSERT_TRUE(imported) << Format(imported.error().front());
    const FabricCounts counts = CountParts(imported->built.fabric);
    EXPECT_EQ(counts.nics, expected.nics) << expected.file;
    EXPECT_EQ(counts.switch_cables, expected.switch_cables) << expected.file;
  }
}

}  // namespace
}  // namespace trunkline
