#include "trunkline/fabric/weak_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fabric/analysis/connectivity.h"
#include "fabric/builders/testing.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

const FailureCost* FailureOf(const WeakPoints& weak, const std::string& what) {
  const auto found = std::ranges::find(weak.failures, what, &FailureCost::what);
  return found == weak.failures.end() ? nullptr : &*found;
}

TEST(LeastCut, NamesTheUplinksOfATaperedTree) {
  // Two pods of two leaves of two hosts; a pod has one uplink of 100 Gb/s.
  const BuiltFabric built = Build("tree:arity=[2,2,2],taper=[1,4],link=100 Gb/s");
  const WeakPoints weak = FindWeakPoints(built);
  EXPECT_EQ(weak.cut.capacity, Rate::GigabitsPerSecond(100));
  ASSERT_EQ(weak.cut.links.size(), 1U);
  const Link& link = built.fabric.link(weak.cut.links[0]);
  const auto name = built.fabric.name(link.from) + " " + built.fabric.name(link.to);
  EXPECT_TRUE(name == "spine-0 core-0" || name == "core-0 spine-1") << name;
}

TEST(LeastCut, AddsUpToItsCapacityAndPrefersCablesBetweenSwitches) {
  const BuiltFabric built = Build("fat-tree:k=8,link=100 Gb/s");
  const WeakPoints weak = FindWeakPoints(built);
  Rate sum;
  for (LinkId id : weak.cut.links) {
    const Link& link = built.fabric.link(id);
    sum = sum + link.rate;
    EXPECT_EQ(built.fabric.device(link.from).kind, DeviceKind::kSwitch);
    EXPECT_EQ(built.fabric.device(link.to).kind, DeviceKind::kSwitch);
  }
  EXPECT_EQ(sum, weak.cut.capacity);
  EXPECT_EQ(sum, Rate::GigabitsPerSecond(100) * (8 * 8 * 8 / 8));
}

TEST(Diversity, OfAKAryFatTreeIsHalfItsPortsAndTheirSquare) {
  // k = 8: of the 31 other leaves, 3 share the pod and its 4 spines, 28 are joined over 16 cores.
  const PathDiversity diversity = FindWeakPoints(Build("fat-tree:k=8")).diversity;
  EXPECT_EQ(diversity.pairs, 32U * 31 / 2);
  EXPECT_EQ(diversity.least_disjoint, 4U);
  EXPECT_DOUBLE_EQ(diversity.mean_disjoint, 4);
  EXPECT_DOUBLE_EQ(diversity.least_equal, 4);
  EXPECT_DOUBLE_EQ(diversity.mean_equal, (3 * 4 + 28 * 16) / 31.0);
}

TEST(Diversity, OfAnHpnPodIsTheSixtyUplinksOfATor) {
  const PathDiversity diversity =
      FindWeakPoints(Build("rail-optimized:node=dgx-h100,nodes=256,unit=128,ports=2,link=200 Gb/s,"
                           "uplink=400 Gb/s,radix=[188,128],oversubscription=1.0667"))
          .diversity;
  EXPECT_EQ(diversity.least_disjoint, 120U);  // of two ToRs, each with 60
}

TEST(SinglePoints, OfADualHomedFabricAreNone) {
  const WeakPoints weak = FindWeakPoints(
      Build("rail-optimized:node=dgx-h100,nodes=8,ports=2,link=200 Gb/s,uplink=400 Gb/s"));
  for (const SinglePoint& point : weak.single_points) EXPECT_EQ(point.nics_lost, 0U) << point.what;
}

TEST(SinglePoints, AreTheLeavesAndTheirCablesWhereNicsHaveOnePort) {
  // 64 nodes in two units of 32: 16 leaves of 32 NICs, and 512 NICs with a cable each.
  const WeakPoints weak = FindWeakPoints(Build("rail-optimized:node=dgx-h100,nodes=64"));
  ASSERT_EQ(weak.single_points.size(), 2U);
  EXPECT_EQ(weak.single_points[0].what, "leaf");
  EXPECT_EQ(weak.single_points[0].count, 16U);
  EXPECT_EQ(weak.single_points[0].nics_lost, 32U);
  EXPECT_EQ(weak.single_points[0].nodes_lost, 0U);  // seven NICs are left
  EXPECT_EQ(weak.single_points[1].what, "nic to leaf cable");
  EXPECT_EQ(weak.single_points[1].count, 512U);
  EXPECT_EQ(weak.single_points[1].nics_lost, 1U);
}

TEST(SinglePoints, TakeNodesWithAllOfTheirNics) {
  // Every leaf of a Clos holds the 32 NICs of four nodes, whichever the search begins at.
  const WeakPoints weak = FindWeakPoints(Build("clos:node=dgx-h100,nodes=32,radix=64"));
  ASSERT_EQ(weak.single_points.size(), 2U);
  EXPECT_EQ(weak.single_points[0].count, 8U);
  EXPECT_EQ(weak.single_points[0].nics_lost, 32U);
  EXPECT_EQ(weak.single_points[0].nodes_lost, 4U);
}

// Whatever is found is what is cut off when it is taken out.
TEST(SinglePoints, LoseWhatTheRestCannotReach) {
  for (const char* spec :
       {"tree:arity=[3,2,2]", "clos:node=dgx-h100,nodes=12,radix=16",
        "rail-optimized:node=dgx-h100,nodes=5,radix=16", "torus:sizes=[3,3],ends=2",
        "full-mesh:nodes=5", "clos:node=hgx-pcie,nodes=9,radix=8"}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      BuiltFabric built = Build(spec);
      std::set<std::string> trunks;
      for (std::size_t i = 0; i < built.fabric.link_count(); i += 2) {
        const Link& link = built.fabric.link(LinkId(i));
        if (built.fabric.device(link.from).kind != DeviceKind::kSwitch ||
            built.fabric.device(link.to).kind != DeviceKind::kSwitch) {
          continue;
        }
        if (Below(Draw(seed, 1, i), 3) == 0) {
          trunks.insert(built.fabric.name(link.from) + "/" + built.fabric.name(link.to));
        }
      }
      std::vector<StaticFault> faults;
      for (const std::string& trunk : trunks) faults.push_back({.target = trunk});
      const auto cut = ApplyFaults(built.fabric, faults);
      ASSERT_TRUE(cut.has_value()) << Format(cut.error().front());
      const Fabric& fabric = *cut;
      const std::vector<bool> none(fabric.link_count(), false);
      EXPECT_EQ(FindLostEnds(fabric, none).nics, 0U) << spec;  // whatever is in parts already
      const bool whole = CountHops(fabric).unreachable == 0;
      for (const SinglePoint& point : FindSinglePoints(fabric)) {
        const auto device = fabric.Find(point.example);
        if (device.empty() || fabric.device(device[0]).kind != DeviceKind::kSwitch) continue;
        std::vector<bool> failed = none;
        for (const LinkId link : fabric.out(device[0])) {
          failed[Index(link)] = failed[Index(fabric.reverse(link))] = true;
        }
        const LostEnds lost = FindLostEnds(fabric, failed);
        EXPECT_EQ(point.nics_lost, lost.nics) << spec << " seed " << seed << " " << point.example;
        // Of parts as large as each other either may be called the rest.
        if (!whole || 2 * lost.nics >= CountParts(fabric).nics) continue;
        EXPECT_EQ(point.nodes_lost, lost.nodes) << spec << " seed " << seed << " " << point.example;
      }
    }
  }
}

TEST(Failures, LoseNothingThatWasApartBefore) {
  // Eight planes of one leaf and eight NICs each: a leaf joins its NICs, one of which is the rest.
  const WeakPoints weak = FindWeakPoints(Build("rail-only:node=dgx-h100,nodes=8,radix=64"));
  const FailureCost* leaf = FailureOf(weak, "leaf");
  ASSERT_NE(leaf, nullptr);
  EXPECT_EQ(leaf->nics_lost, 7U);
  EXPECT_EQ(leaf->nodes_lost, 0U);
  const FailureCost* cable = FailureOf(weak, "nic to leaf cable");
  ASSERT_NE(cable, nullptr);
  EXPECT_EQ(cable->nics_lost, 1U);
  EXPECT_EQ(cable->nodes_lost, 0U);
}

TEST(SinglePoints, OfATreeCutOffWholePods) {
  // Three pods: spine-0 (or its uplink) cuts off its 4 hosts, core-0 all but one pod.
  const WeakPoints weak = FindWeakPoints(Build("tree:arity=[2,2,3]"));
  const auto find = [&](const std::string& what) {
    return std::ranges::find(weak.single_points, what, &SinglePoint::what);
  };
  ASSERT_NE(find("core"), weak.single_points.end());
  EXPECT_EQ(find("core")->nodes_lost, 8U);
  EXPECT_EQ(find("spine")->count, 3U);
  EXPECT_EQ(find("spine")->nodes_lost, 4U);
  EXPECT_EQ(find("spine to core cable")->nodes_lost, 4U);
  EXPECT_EQ(find("leaf")->nodes_lost, 2U);
  EXPECT_EQ(find("host to leaf cable")->count, 12U);
}

TEST(Failures, CostTheShareOfWhatFailed) {
  // One unit: 8 leaves of 32 NICs, 4 spines, each with 8 of a leaf's 32 uplinks.
  const BuiltFabric built = Build("rail-optimized:node=dgx-h100,nodes=32");
  const WeakPoints weak = FindWeakPoints(built);
  const Rate whole = Rate::GigabitsPerSecond(400) * 128;
  EXPECT_EQ(weak.cut.capacity, whole);
  const FailureCost* leaf = FailureOf(weak, "leaf");
  ASSERT_NE(leaf, nullptr);
  EXPECT_EQ(leaf->nics_lost, 32U);
  EXPECT_EQ(leaf->nodes_lost, 0U);
  EXPECT_EQ(leaf->cut, Rate::GigabitsPerSecond(400) * 112);
  const FailureCost* spine = FailureOf(weak, "spine");
  ASSERT_NE(spine, nullptr);
  EXPECT_EQ(spine->nics_lost, 0U);
  EXPECT_DOUBLE_EQ(spine->oversubscription, 32.0 / 24);
  // Rails meet on their leaves: the halves of every rail do not need the spines.
  EXPECT_EQ(spine->cut, whole);
  const FailureCost* cable = FailureOf(weak, "leaf to spine cable");
  ASSERT_NE(cable, nullptr);
  EXPECT_DOUBLE_EQ(cable->oversubscription, 32.0 / 31);
  EXPECT_THAT(cable->target, HasSubstr("leaf-"));
}

}  // namespace
}  // namespace trunkline
