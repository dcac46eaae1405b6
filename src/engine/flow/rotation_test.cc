#include "engine/flow/rotation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/flow/test_inputs.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

std::shared_ptr<const Schedule> AllToAll(const char* algorithm, std::uint32_t ranks,
                                         std::int64_t excess = 0) {
  const std::int64_t bytes = std::int64_t{1000} * ranks + excess;
  return MakeSchedule(algorithm, Choose(Primitive::kAllToAll, bytes, algorithm, 2).spec,
                      GroupLayout::Flat(ranks))
      .value();
}

std::uint32_t PeriodOf(const Fabric& fabric, std::uint32_t ranks,
                       RoutingPolicy policy = RoutingPolicy::kStatic) {
  const Router router(fabric, {.policy = policy});
  const auto rotation =
      FindRotation(router, PackedPlacement(fabric, ranks).value(), *AllToAll("pairwise", ranks));
  return rotation ? rotation->period : ranks;
}

TEST(Rotation, TurnsOneSwitchByARankAndAFatTreeByALeaf) {
  EXPECT_EQ(PeriodOf(Star(8, {CableSpec{}}), 8), 1U);
  EXPECT_EQ(PeriodOf(Star(8, {CableSpec{}, CableSpec{.latency = Time::Nanoseconds(9)}}), 8), 2U);
  EXPECT_EQ(PeriodOf(LeafSpine(4, 4, 4), 16), 4U);
  EXPECT_EQ(PeriodOf(LeafSpine(4, 4, 2), 16), 4U);
  // Ranks on two leaves of four.
  EXPECT_EQ(PeriodOf(LeafSpine(4, 4, 4), 8), 4U);
}

TEST(Rotation, IsRefusedWhereALinkOrARouteDiffers) {
  EXPECT_EQ(PeriodOf(LeafSpine(4, 4, 4, {}, true), 16), 16U);
  EXPECT_EQ(PeriodOf(LeafSpine(4, 4, 4), 15), 15U);
  // Moved on by one leaf, destination modulo 3 names another spine; by three leaves of six the
  // same.
  EXPECT_EQ(PeriodOf(LeafSpine(3, 4, 3), 12), 12U);
  EXPECT_EQ(PeriodOf(LeafSpine(6, 4, 3), 24), 12U);
  EXPECT_EQ(PeriodOf(LeafSpine(4, 4, 4), 16, RoutingPolicy::kEcmp), 16U);
}

TEST(Rotation, TurnsATorusByARowWhereRoutesTakeAllPaths) {
  const Fabric torus = BuildFabric(ParseFabricSpec("torus:sizes=[4,6]").value())->fabric;
  EXPECT_EQ(PeriodOf(torus, 24, RoutingPolicy::kAdaptive), 4U);
  EXPECT_EQ(PeriodOf(torus, 24, RoutingPolicy::kSpray), 4U);
  EXPECT_EQ(PeriodOf(torus, 24, RoutingPolicy::kEcmp), 24U);
  EXPECT_EQ(PeriodOf(torus, 20, RoutingPolicy::kAdaptive), 20U);
}

TEST(Rotation, IsRefusedWherePlacementDoesNotTurn) {
  const Fabric fabric = LeafSpine(2, 4, 4);
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  std::vector<DeviceId> endpoints(fabric.endpoints().begin(), fabric.endpoints().end());
  std::swap(endpoints[0], endpoints[5]);
  EXPECT_FALSE(FindRotation(router, Placement(endpoints), *AllToAll("pairwise", 8)));
}

TEST(Rotation, IsRefusedWhereBlocksDiffer) {
  const Fabric fabric = Star(8, {CableSpec{}});
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  const Placement placement = PackedPlacement(fabric, 8).value();
  EXPECT_TRUE(FindRotation(router, placement, *AllToAll("direct", 8)));
  EXPECT_FALSE(FindRotation(router, placement, *AllToAll("direct", 8, 4)));
}

TEST(Rotation, FindsThePairsThatTheScheduleLists) {
  for (const char* algorithm : {"pairwise", "direct"}) {
    const auto schedule = AllToAll(algorithm, 9);
    EXPECT_EQ(RotatedPairs(*schedule, 9), schedule->pairs()) << algorithm;
  }
}

}  // namespace
}  // namespace trunkline
