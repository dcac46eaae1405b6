#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RailOnly, HasASwitchForEveryRailAndNothingAbove) {
  // Wang et al., HotI 2024: as many rail switches as NICs of a node, no spine.
  const Counts counts = Count("rail-only:node=dgx-h100,nodes=64");
  EXPECT_EQ(counts.switches, (std::array<std::size_t, 4>{0, 8, 0, 0}));
  EXPECT_EQ(counts.switch_cables, 0U);
  // Beyond the radix every rail is a Clos of its own: 128 / 32 leaves and half as many spines.
  EXPECT_EQ(Count("rail-only:node=dgx-h100,nodes=128").switches,
            (std::array<std::size_t, 4>{0, 32, 16, 0}));
}

TEST(RailOnly, ForwardsBetweenRailsOverNvlink) {
  const BuiltFabric built = Build("rail-only:node=dgx-h100,nodes=4");
  const Router router(built.fabric, {});
  const auto gpu = [&](const char* name) { return built.fabric.Find(name).at(0); };
  const auto path = router.FindPath(gpu("gpu:0/2"), gpu("gpu:3/5"), 0);
  ASSERT_TRUE(path.has_value()) << Format(path.error()[0]);
  std::vector<std::string> names;
  for (const LinkId link : *path) names.push_back(built.fabric.name(built.fabric.link(link).to));
  const auto relay = std::ranges::find(names, "gpu:0/5");
  ASSERT_NE(relay, names.end());
  EXPECT_EQ(std::ranges::count(names, "nic:0/5"), 1);
  EXPECT_EQ(std::ranges::count(names, "nic:0/2"), 0);
  EXPECT_EQ(std::ranges::count(names, "leaf-5"), 1);
  // The NIC is the narrowest: a lone flow gets its rate.
  EXPECT_EQ(router.FindRoute(gpu("gpu:0/2"), gpu("gpu:3/5"), 0)->limit,
            Rate::GigabitsPerSecond(400));
}

TEST(RailOnly, HasNoPathBetweenRailsWithoutNvlink) {
  const BuiltFabric built = Build("rail-only:node=hgx-pcie,nodes=4");
  const Router router(built.fabric, {});
  const auto route =
      router.FindRoute(built.fabric.Find("gpu:0/0").at(0), built.fabric.Find("gpu:3/7").at(0), 0);
  ASSERT_FALSE(route.has_value());
  EXPECT_EQ(route.error()[0].code, "TL1410");
}

TEST(FatTree, OfRadixKHasTheCountsOfItsFormulas) {
  for (std::size_t k : {2U, 4U, 6U, 8U, 16U}) {
    const Counts counts = Count("fat-tree:k=" + std::to_string(k));
    EXPECT_EQ(counts.nodes, k * k * k / 4);
    EXPECT_EQ(counts.switches[1] + counts.switches[2] + counts.switches[3], 5 * k * k / 4);
    EXPECT_EQ(counts.switch_cables, k * k * k / 2);
  }
}

// Servers of one to four NICs: so many rails, each of the NICs spread over the server's sockets.
TEST(Nics, OfANodeAreAsManyAsTheSpecSays) {
  for (const std::uint32_t nics : {1U, 2U, 4U}) {
    const BuiltFabric built =
        Build("rail-optimized:node=dgx-h100,nodes=16,radix=32,nics=" + std::to_string(nics));
    const FabricCounts counts = CountParts(built.fabric);
    EXPECT_EQ(counts.gpus, 16U * 8);
    EXPECT_EQ(counts.nics, 16U * nics);
    EXPECT_EQ(counts.host_cables, 16U * nics);
    EXPECT_EQ(built.node.nics, nics);
    std::map<std::uint32_t, std::size_t> gpus_of_nic;
    for (const std::uint32_t nic : built.node.nic_of_gpu) ++gpus_of_nic[nic];
    ASSERT_EQ(gpus_of_nic.size(), nics);
    for (const auto& [nic, gpus] : gpus_of_nic) EXPECT_EQ(gpus, 8 / nics) << nics << " " << nic;
  }
  const BuiltFabric hosts = Build("clos:nodes=16,radix=16,nics=2");
  EXPECT_EQ(CountParts(hosts.fabric).nics, 32U);
  EXPECT_EQ(hosts.fabric.node_count(), 16U);
  EXPECT_EQ(hosts.fabric.endpoints().size(), 32U);
  EXPECT_EQ(hosts.fabric.name(hosts.fabric.endpoints()[3]), "host-1/1");
  const auto spec = ParseFabricSpec("clos:node=dgx-h100,nodes=4,nics=9");
  ASSERT_TRUE(spec.has_value());
  const auto refused = BuildFabric(*spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, "TL1405");
}

TEST(FatTree, BisectionIsHalfOfTheHostsRate) {
  for (int k : {4, 8, 16}) {
    const BuiltFabric built = Build("fat-tree:link=100 Gb/s,k=" + std::to_string(k));
    ASSERT_TRUE(built.bisection.has_value());
    EXPECT_EQ(built.bisection->lower, Rate::GigabitsPerSecond(100) * (k * k * k / 8));
    EXPECT_EQ(built.bisection->upper, built.bisection->lower);
  }
}

TEST(Clos, IsOneLeafWhereThatHasPortsForAll) {
  using Tiers = std::array<std::size_t, 4>;
  for (const char* nodes : {"1", "32", "33", "64"}) {
    const Counts counts = Count(std::string("clos:radix=64,nodes=") + nodes);
    EXPECT_EQ(counts.switches, (Tiers{0, 1, 0, 0})) << nodes;
    EXPECT_EQ(counts.switch_cables, 0U);
  }
  // Beyond it three of 32 ends and a spine for 96 uplinks: two, of 48.
  EXPECT_EQ(Count("clos:radix=64,nodes=65").switches, (Tiers{0, 3, 2, 0}));
  EXPECT_EQ(Count("clos:radix=64,nodes=64,tiers=2").switches, (Tiers{0, 2, 1, 0}));
  EXPECT_EQ(Count("clos:radix=64,nodes=128,breakout=2").switches, (Tiers{0, 1, 0, 0}));
  // In each of eight planes, and of two ports of a NIC.
  EXPECT_EQ(Count("clos:node=dgx-h100,nodes=64,planes=8").switches, (Tiers{0, 8, 0, 0}));
  EXPECT_EQ(Count("clos:radix=64,nodes=64,ports=2").switches, (Tiers{0, 2, 0, 0}));
  EXPECT_EQ(Count("clos:radix=64,node=gb200-nvl72,nodes=4,planes=72").switches[1], 72U);
  // Who names the spines' radix asks for spines.
  EXPECT_EQ(Count("clos:radix=[64,32],nodes=64").switches, (Tiers{0, 2, 2, 0}));
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

TEST(Clos, BreakoutLetsTwoCablesShareAPort) {
  // 64 ports of 800 Gb/s: 64 NICs of 400 on 32 of them, 32 uplinks of 800; spines unbroken.
  const BuiltFabric built =
      Build("clos:nodes=1024,radix=64,breakout=[2,1],link=400 Gb/s,uplink=800 Gb/s");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.switches[1], 16U);
  EXPECT_EQ(counts.switches[2], 8U);
  EXPECT_EQ(counts.switch_cables, 16U * 32);
  EXPECT_EQ(built.bisection->lower, Rate::GigabitsPerSecond(400) * 512);
  // Both sides of the leaf at 400 are 128 logical ports: the tree of DeepSeek's table for 128.
  const Counts both = Count("clos:nodes=8192,radix=64,breakout=[2,2]");
  EXPECT_EQ(both.switches[1], 128U);
  EXPECT_EQ(both.switches[2], 64U);
  EXPECT_THAT(ErrorOf("clos:nodes=64,radix=16,breakout=[1,1,2]"), HasSubstr("values of breakout"));
}

TEST(Clos, OversubscribesEveryTierByItsOwnRatio) {
  // 32 ports: 24 down and 8 up at 3:1; spines 16 and 16; 16 leaves a pod.
  const BuiltFabric built = Build("clos:nodes=1536,radix=32,oversubscription=[3,1],tiers=3");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.switches[1], 64U);
  EXPECT_EQ(counts.switches[2], 4U * 8);
  EXPECT_EQ(counts.switches[3], 8U * 2);
  EXPECT_EQ(built.bisection->lower, Rate::GigabitsPerSecond(400) * (768 / 3));
}

TEST(Clos, PortsShareTheRateOfANicAmongPlanes) {
  // A NIC of 400 Gb/s with four ports: four planes at 100 Gb/s, each a tree of its own.
  const BuiltFabric built = Build("clos:nodes=512,radix=32,ports=4");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.switches[1], 4U * 32);
  EXPECT_EQ(counts.switches[2], 4U * 16);
  EXPECT_EQ(counts.host_cables, 4U * 512);
  EXPECT_EQ(built.fabric.link(LinkId(0)).rate, Rate::GigabitsPerSecond(100));
  EXPECT_EQ(built.bisection->lower, Rate::GigabitsPerSecond(400) * 256);
  for (std::size_t i = 0; i < built.fabric.link_count(); ++i) {
    const Device& from = built.fabric.device(built.fabric.link(LinkId(i)).from);
    const Device& to = built.fabric.device(built.fabric.link(LinkId(i)).to);
    if (from.tier == 1 && to.tier == 2) {
      EXPECT_EQ(from.local % 4, to.local % 4);
    }
  }
}

TEST(Clos, OfOneTierUsesAllPortsOfItsSwitch) {
  EXPECT_EQ(Count("clos:nodes=64,radix=64,tiers=1").switches,
            (std::array<std::size_t, 4>{0, 1, 0, 0}));
  EXPECT_THAT(ErrorOf("clos:nodes=65,radix=64,tiers=1"), HasSubstr("radix=65"));
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
  EXPECT_EQ(counts.switches[0], 64U);
  EXPECT_EQ(counts.switch_cables, 8U * 28 + 28);
  const auto global = built.fabric.Find("switch-3");
  EXPECT_EQ(built.fabric.link(built.fabric.out(global[0]).back()).rate,
            Rate::GigabitsPerSecond(1600));
}

TEST(Build, RadixTooSmallNamesTheSmallestThatWorks) {
  const std::string error = ErrorOf("clos:nodes=1000,radix=8");
  EXPECT_THAT(error, HasSubstr("TL1403"));
  // Three tiers of radix k hold k^3/4 hosts: 16^3/4 = 1,024, and 14^3/4 = 686.
  EXPECT_THAT(error, HasSubstr("radix=16"));
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
