#include "trunkline/fabric/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "fabric/analysis/hose_bound.h"
#include "fabric/builders/testing.h"
#include "trunkline/fabric/weak_points.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

// The least cut over every halving of the nodes, one by one.
Rate LeastCut(const Fabric& fabric) {
  const std::uint32_t nodes = fabric.node_count();
  Rate least = Rate::BitsPerSecond(INT64_MAX);
  for (std::uint32_t mask = 0; mask < (1U << nodes); ++mask) {
    if (static_cast<std::uint32_t>(std::popcount(mask)) != nodes / 2) continue;
    std::vector<bool> side(nodes);
    for (std::uint32_t n = 0; n < nodes; ++n) side[n] = (mask >> n & 1U) != 0;
    least = std::min(least, CutCapacity(fabric, side));
  }
  return least;
}

TEST(Counts, OfASuperPodUnitAreThoseOfItsTable) {
  const FabricCounts counts = CountParts(Build("rail-optimized:node=dgx-h100,nodes=32").fabric);
  EXPECT_EQ(counts.nodes, 32U);
  EXPECT_EQ(counts.gpus, 256U);
  EXPECT_EQ(counts.nics, 256U);
  ASSERT_EQ(counts.tiers.size(), 2U);
  EXPECT_EQ(counts.tiers[0].switches, 8U);
  EXPECT_EQ(counts.tiers[0].ports, 64U);
  EXPECT_EQ(counts.tiers[0].oversubscription, 1);
  EXPECT_EQ(counts.tiers[1].switches, 4U);
  EXPECT_EQ(counts.tiers[1].oversubscription, 0);
  EXPECT_EQ(counts.host_cables, 256U);
  EXPECT_EQ(counts.switch_cables, 256U);
  EXPECT_EQ(counts.oversubscription, 1);
  EXPECT_EQ(counts.full_mesh_cables, 256U * 255 / 2);
}

TEST(Counts, OversubscriptionOfLlama3IsOneToSevenAboveThePods) {
  const FabricCounts counts =
      CountParts(Build("tree:node=dgx-h100,arity=[2,192,8],taper=[1,7]").fabric);
  EXPECT_DOUBLE_EQ(counts.tiers[0].oversubscription, 1);
  EXPECT_NEAR(counts.tiers[1].oversubscription, 7, 1e-9);
  EXPECT_NEAR(counts.oversubscription, 7, 1e-9);
}

// 72 NICs and two cables at every switch of a ring of two by two; four ends and five cables.
TEST(Counts, OversubscriptionOfSwitchesSideBySideIsThatOfTheThinnest) {
  EXPECT_EQ(CountParts(Build("torus:node=gb200-nvl72,sizes=[2,2],ends=72").fabric).oversubscription,
            36);
  EXPECT_EQ(CountParts(Build("full-mesh:switches=6,ends=4,nodes=24").fabric).oversubscription, 1);
}

TEST(Counts, RatesOfATierAreThoseOfItsWorstSwitch) {
  const FabricCounts counts = CountParts(Build("tree:arity=[4,2],taper=[4],link=100 Gb/s").fabric);
  EXPECT_EQ(counts.tiers[0].down, Rate::GigabitsPerSecond(400));
  EXPECT_EQ(counts.tiers[0].up, Rate::GigabitsPerSecond(100));
  EXPECT_EQ(counts.tiers[1].up, Rate());
}

TEST(Counts, TiersAboveTheCoreHaveNamesOfTheirOwn) {
  const FabricCounts counts = CountParts(Build("tree:arity=[2,2,2,2,2]").fabric);
  std::vector<std::string> names;
  for (const TierSummary& tier : counts.tiers) names.push_back(tier.name);
  EXPECT_THAT(names, ::testing::ElementsAre("leaf", "spine", "core", "tier4", "tier5"));
}

TEST(Counts, OversubscriptionOfAHpnTorIsThePublishedRatio) {
  const FabricCounts counts =
      CountParts(Build("rail-optimized:node=dgx-h100,nodes=1920,unit=128,ports=2,link=200 Gb/s,"
                       "uplink=400 Gb/s,radix=[188,128],oversubscription=1.0667")
                     .fabric);
  EXPECT_NEAR(counts.tiers[0].oversubscription, 1.067, 5e-4);
}

TEST(Hops, OfAKAryFatTreeFollowItsCounts) {
  // k = 4: 16 hosts. Of the 15 others, 1 shares the leaf (1 switch), 2 the pod (3), 12 neither (5).
  const HopStatistics hops = CountHops(Build("fat-tree:k=4").fabric);
  EXPECT_EQ(hops.diameter_switches, 5U);
  EXPECT_EQ(hops.diameter_links, 6U);
  EXPECT_DOUBLE_EQ(hops.mean_switches, (1 * 1 + 2 * 3 + 12 * 5) / 15.0);
  EXPECT_DOUBLE_EQ(hops.mean_links, hops.mean_switches + 1);
  EXPECT_EQ(hops.unreachable, 0);
}

TEST(Hops, AreDistributedAsTheCountsOfAFatTree) {
  const HopStatistics hops = CountHops(Build("fat-tree:k=4").fabric);
  ASSERT_EQ(hops.distribution.size(), 3U);
  EXPECT_EQ(hops.distribution[1].switches, 3U);
  EXPECT_DOUBLE_EQ(hops.distribution[0].pairs, 1 / 15.0);
  EXPECT_DOUBLE_EQ(hops.distribution[1].pairs, 2 / 15.0);
  EXPECT_DOUBLE_EQ(hops.distribution[2].pairs, 12 / 15.0);
}

TEST(SwitchEstimate, HoldsForAFullKAryFatTreeOfThreeTiers) {
  for (int k : {4, 8, 16}) {
    const auto estimate =
        EstimateSwitches(CountParts(Build("fat-tree:k=" + std::to_string(k)).fabric));
    EXPECT_THAT(estimate.why_not, ::testing::IsEmpty());
    EXPECT_DOUBLE_EQ(estimate.estimate, static_cast<double>(estimate.switches));
    EXPECT_EQ(estimate.switches, static_cast<std::uint64_t>(5 * k * k / 4));
  }
}

TEST(SwitchEstimate, SaysWhatItDoesNotAssume) {
  const auto rails =
      EstimateSwitches(CountParts(Build("rail-optimized:node=dgx-h100,nodes=32").fabric));
  EXPECT_EQ(rails.estimate, 2.5);  // 5 x 32 / 64, where 12 switches stand
  EXPECT_EQ(rails.switches, 12U);
  EXPECT_THAT(rails.why_not, ::testing::Contains(HasSubstr("2 tiers")));
  EXPECT_THAT(rails.why_not, ::testing::Contains(HasSubstr("8 network cables a server")));
  const auto thin =
      EstimateSwitches(CountParts(Build("clos:nodes=16,radix=6,oversubscription=2").fabric));
  EXPECT_THAT(thin.why_not, ::testing::Contains(HasSubstr("oversubscription")));
}

TEST(SwitchEstimate, TakesTheRadixGivenRatherThanThePortsInUse) {
  const FabricCounts counts = CountParts(Build("clos:nodes=4,radix=64").fabric);
  EXPECT_EQ(EstimateSwitches(counts).ports, 4U);
  const SwitchEstimate estimate = EstimateSwitches(counts, 64);
  EXPECT_EQ(estimate.estimate, 5 * 4 / 64.0);
  EXPECT_THAT(estimate.why_not,
              ::testing::Contains("1 switch, not the 5120 of a full tree of 64-port switches"));
}

TEST(Hops, LeaveOutPairsWithinANode) {
  // Two nodes of two NICs on their own leaves: the same rail is 1 switch away, the other rail 3.
  const HopStatistics hops =
      CountHops(Build("rail-optimized:node=hgx-pcie,nodes=2,radix=4").fabric);
  EXPECT_DOUBLE_EQ(hops.mean_switches, (1 + 3) / 2.0);
}

TEST(Hops, CountPairsThatNoPathJoins) {
  // Eight separate planes: a NIC reaches one of the eight NICs of every other node.
  const HopStatistics hops =
      CountHops(Build("clos:node=dgx-h100,nodes=16,planes=8,radix=64").fabric);
  EXPECT_DOUBLE_EQ(hops.unreachable, 7.0 / 8);
  EXPECT_EQ(hops.diameter_switches, 1U);
}

TEST(Cut, OfANonBlockingSwitchIsTheSmallerSide) {
  const BuiltFabric built = Build("single-switch:nodes=8,link=100 Gb/s");
  std::vector<bool> side(8, false);
  side[3] = side[5] = side[6] = true;
  EXPECT_EQ(CutCapacity(built.fabric, side), Rate::GigabitsPerSecond(300));
}

TEST(Bisection, ClosedFormIsTheLeastCutOverAllHalvings) {
  for (const char* spec :
       {"fat-tree:k=4,nodes=12", "fat-tree:k=4,nodes=8", "single-switch:nodes=10",
        "tree:arity=[3,4],taper=[2]", "tree:arity=[2,2,3],taper=[1,2]",
        "tree:arity=[4,2],taper=[3]", "clos:nodes=12,radix=6,oversubscription=2",
        "clos:node=hgx-pcie,nodes=12,radix=12,oversubscription=2",
        "fat-tree:children=[2,6],parents=[2,2]", "torus:sizes=[3,3]", "torus:sizes=[3,4]",
        "torus:sizes=[2,5]", "torus:sizes=[2,2,3]", "torus:sizes=[7]", "torus:sizes=[6],ends=2",
        "torus:sizes=[5],ends=2,link=100 Gb/s,uplink=400 Gb/s"}) {
    const BuiltFabric built = Build(spec);
    ASSERT_TRUE(built.bisection.has_value());
    const Rate least = LeastCut(built.fabric);
    EXPECT_LE(built.bisection->lower, least) << spec;
    EXPECT_GE(built.bisection->upper, least) << spec;
    // Where it claims to know, it does; the upper bound is attained in every one of these.
    EXPECT_EQ(built.bisection->upper, least) << spec;
  }
}

TEST(Bisection, FormulaOfAFatTreeIsItsMaxFlow) {
  for (int k : {4, 8}) {
    const BuiltFabric built = Build("fat-tree:link=100 Gb/s,k=" + std::to_string(k));
    std::vector<bool> side(built.fabric.node_count());
    for (std::size_t n = 0; n < side.size(); ++n) side[n] = n % 2 == 0;
    EXPECT_EQ(CutCapacity(built.fabric, side), built.bisection->upper);
    EXPECT_EQ(built.bisection->upper, Rate::GigabitsPerSecond(100) * (k * k * k / 8));
  }
}

TEST(Bisection, BoundsOfUnrecognisedFabricsMeetTheFormula) {
  for (const char* spec : {"fat-tree:k=4", "fat-tree:k=8", "rail-optimized:node=dgx-h100,nodes=64",
                           "tree:arity=[4,4],taper=[2]", "single-switch:nodes=9"}) {
    const BuiltFabric built = Build(spec);
    const Bisection bounds = BoundBisection(built.fabric);
    EXPECT_EQ(bounds.lower, built.bisection->lower) << spec;
    EXPECT_EQ(bounds.upper, built.bisection->upper) << spec;
    EXPECT_THAT(bounds.method, HasSubstr("exact"));
  }
}

TEST(Bisection, LosesExactlyTheFailedUplink) {
  // A leaf of 4 hosts with 4 uplinks keeps 3: the half with that leaf sends one host's rate less.
  const BuiltFabric built = Build("fat-tree:children=[4,4],parents=[1,4],link=100 Gb/s");
  const auto faulty =
      ApplyFaults(built.fabric, std::vector<StaticFault>{{.target = "leaf-1/spine-2"}});
  ASSERT_TRUE(faulty.has_value());
  const Bisection bounds = BoundBisection(*faulty);
  EXPECT_EQ(bounds.upper, Rate::GigabitsPerSecond(700));
  EXPECT_LE(bounds.lower, bounds.upper);
  EXPECT_GE(bounds.lower, Rate::GigabitsPerSecond(600));
}

TEST(Bisection, UpperBoundIsTheLeastOfAllCutsThatArePrinted) {
  for (const char* spec : {"dragonfly:h=2", "dragonfly-plus:h=4", "dragonfly:h=2,g=5",
                           "dragonfly-plus:h=2,leaves=4,spines=2"}) {
    const BuiltFabric built = Build(spec);
    const FabricAnalysis analysis = Analyse(built);
    EXPECT_LE(analysis.bisection.upper, FindWeakPoints(built).cut.capacity) << spec;
    EXPECT_LE(analysis.bisection.lower, analysis.bisection.upper) << spec;
  }
}

TEST(Bisection, HoseBoundNeverExceedsTheLeastCut) {
  const BuiltFabric built = Build("fat-tree:k=4,nodes=12,link=100 Gb/s");
  for (const char* target : {"leaf-0/spine-0", "spine-0/core-2", "host-3", "leaf-2/spine-3"}) {
    const auto faulty =
        ApplyFaults(built.fabric,
                    std::vector<StaticFault>{
                        {.target = target, .kind = StaticFault::Kind::kDegrade, .fraction = 0.25}});
    ASSERT_TRUE(faulty.has_value());
    const Rate least = LeastCut(*faulty);
    const auto bound = BoundFromBelow(*faulty);
    ASSERT_TRUE(bound.has_value());
    EXPECT_LE(bound->rate, least) << target;
    EXPECT_GE(BoundBisection(*faulty).upper, least) << target;
    EXPECT_GT(bound->rate, Rate()) << target;
  }
}

// Nodes of several NICs, on one switch or on several; of unequal numbers of them, in planes, on
// graphs without tiers, meshes of NICs themselves, and with cables that are slow.
TEST(Bisection, BoundFromBelowIsCloseToTheLeastOfAllHalvings) {
  struct Case {
    const char* spec;
    const char* slow;
    double close;  // the part of the least cut that is proved; 0: any
  };
  for (const auto& [spec, slow, close] :
       {Case{"slim-fly:q=3,p=2,node=hgx-pcie,nodes=10", "", 0.6},
        Case{"slim-fly:q=3,p=1,node=hgx-pcie", "", 0.8},
        Case{"slim-fly:q=3,p=2,node=hgx-pcie,nodes=13", "", 0.5},
        Case{"dragonfly:p=1,a=4,h=1,g=4,node=hgx-pcie", "", 0.9},
        Case{"dragonfly:p=4,a=2,h=2,g=3,node=hgx-pcie", "", 0.9},
        Case{"dragonfly-plus:h=2,p=2,leaves=2,spines=2,g=5,node=hgx-pcie", "", 0.8},
        Case{"torus:sizes=[4,4],ends=1,node=hgx-pcie", "", 0.9},
        Case{"rail-only:node=hgx-pcie,nodes=12,radix=8", "", 0.9},
        Case{"rail-optimized:node=hgx-pcie,nodes=12,radix=8", "", 0.9},
        Case{"clos:node=hgx-pcie,nodes=12,planes=2,ports=2,radix=8", "", 0.9},
        Case{"full-mesh:nodes=10", "", 0.9}, Case{"full-mesh:nodes=6,node=hgx-pcie", "", 0.9},
        Case{"full-mesh:nodes=10", "host-3", 0},
        Case{"torus:sizes=[4,4],ends=1,node=hgx-pcie", "nic:3/0", 0},
        Case{"slim-fly:q=3,p=1,node=hgx-pcie", "switch-3/switch-4", 0}}) {
    const BuiltFabric built = Build(spec);
    std::vector<StaticFault> faults;
    if (*slow != 0) {
      faults.push_back({.target = slow, .kind = StaticFault::Kind::kDegrade, .fraction = 0.25});
    }
    const auto fabric = ApplyFaults(built.fabric, faults);
    ASSERT_TRUE(fabric.has_value()) << spec << slow;
    const Rate least = LeastCut(*fabric);
    const auto bound = BoundFromBelow(*fabric);
    ASSERT_TRUE(bound.has_value());
    EXPECT_LE(bound->rate, least) << spec << slow;
    EXPECT_GE(bound->rate.bytes_per_second(), close * least.bytes_per_second()) << spec << slow;
    if (built.bisection && faults.empty()) EXPECT_LE(built.bisection->lower, least) << spec;
  }
}

// Half of the servers of a fabric that has larger and smaller ones: the smaller, whose NICs are
// fewer than half of all.
TEST(Bisection, OfUnequalServersIsThatOfTheSmaller) {
  FabricBuilder builder;
  const DeviceId hub = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  for (std::uint32_t node = 0; node < 6; ++node) {
    for (std::uint32_t nic = 0; nic < (node % 2 == 0 ? 1U : 4U); ++nic) {
      const DeviceId id = builder.AddDevice({.kind = DeviceKind::kNic, .node = node, .local = nic});
      builder.AddCable(id, hub, Rate::GigabitsPerSecond(100), Time(), LinkKind::kNetwork);
    }
  }
  BuiltFabric built;
  built.fabric = std::move(builder).Build();
  const FabricAnalysis analysis = Analyse(built);
  EXPECT_LE(analysis.bisection.lower, Rate::GigabitsPerSecond(300));
  EXPECT_EQ(LeastCut(built.fabric), Rate::GigabitsPerSecond(300));
  EXPECT_EQ(analysis.fewest_nics_of_half, 3U);
}

TEST(Analysis, WorstHalfByUnitIsFoundAmongAllHalvesOfTheUnits) {
  const BuiltFabric built = Build("tree:arity=[2,2,2],taper=[1,4],link=100 Gb/s");
  const FabricAnalysis analysis = Analyse(built);
  ASSERT_TRUE(analysis.worst_half_by_unit.has_value());
  // Four leaves in two pods; a pod has 4 x 100 / 4 = 100 Gb/s up.
  EXPECT_EQ(*analysis.worst_half_by_unit, Rate::GigabitsPerSecond(100));
}

TEST(TracePath, ShowsEveryHopWithItsRateAndLatency) {
  const BuiltFabric built = Build("rail-optimized:node=dgx-h100,nodes=64");
  const Router router(built.fabric, {});
  const auto report = TracePath(router, "gpu:0/3", "gpu:17/5");
  ASSERT_TRUE(report.has_value());
  std::vector<std::string> names;
  Time latency;
  for (const PathHop& hop : report->hops) {
    names.push_back(hop.to);
    latency += hop.latency + hop.forwarding;
  }
  // Another rail: up to a spine and down to the leaf of rail 5.
  ASSERT_EQ(names.size(), 8U);
  EXPECT_EQ(names[0], "pcie-switch:0/1");
  EXPECT_EQ(names[1], "nic:0/3");
  EXPECT_EQ(names[2], "leaf-3");
  EXPECT_THAT(names[3], HasSubstr("spine-"));
  EXPECT_EQ(names[4], "leaf-5");
  EXPECT_EQ(names[5], "nic:17/5");
  EXPECT_EQ(names[7], "gpu:17/5");
  EXPECT_EQ(latency, report->latency);
  EXPECT_EQ(report->limit, Rate::GigabitsPerSecond(400));
  EXPECT_EQ(report->hops[3].parallel, 32U);
}

TEST(TracePath, RefusesWhatIsNoEnd) {
  const BuiltFabric built = Build("rail-optimized:node=dgx-h100,nodes=2");
  const Router router(built.fabric, {});
  for (const auto& [from, to] : {std::pair("gpu:0/9", "gpu:1/0"), std::pair("leaf-0", "gpu:1/0"),
                                 std::pair("gpu:0/0", "gpu:0/0"), std::pair("", "gpu:0/0")}) {
    const auto report = TracePath(router, from, to);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error()[0].code, "TL1411");
  }
}

}  // namespace
}  // namespace trunkline
