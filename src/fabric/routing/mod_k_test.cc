#include "fabric/routing/mod_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "trunkline/fabric/route.h"
#include "trunkline/fabric/route_counts.h"

namespace trunkline {
namespace {

// The most flows on a link while each end sends to the one `shift` further.
int MostFlows(const Router& router, std::size_t shift) {
  const auto ends = router.fabric().endpoints();
  std::map<LinkId, int> flows;
  int most = 0;
  for (std::size_t from = 0; from < ends.size(); ++from) {
    const auto path = router.FindPath(ends[from], ends[(from + shift) % ends.size()], 0);
    EXPECT_TRUE(path.has_value());
    for (const LinkId link : path.value_or(std::vector<LinkId>())) {
      most = std::max(most, ++flows[link]);
    }
  }
  return most;
}

// Theorem 1 of Zahavi's report: in a full tree whose switches have as much up as down, no shift has
// two flows on a link, whatever cables are parallel.
TEST(ModK, NoShiftOfAFullTreeHasTwoFlowsOnALink) {
  for (const char* spec : {"fat-tree:k=4", "fat-tree:k=6,tiers=2", "clos:nodes=32,radix=16,tiers=2",
                           "clos:nodes=128,radix=64,tiers=2", "clos:nodes=64,radix=8,tiers=3",
                           "fat-tree:children=[4,4],parents=[1,2],cables=[1,2]",
                           "fat-tree:children=[4,4,2],parents=[1,2,2],cables=[1,2,4]"}) {
    const Fabric fabric = Build(spec).fabric;
    for (const RoutingPolicy policy : {RoutingPolicy::kStatic, RoutingPolicy::kFtree}) {
      const Router router(fabric, {.policy = policy});
      for (std::size_t shift = 1; shift < fabric.endpoints().size(); ++shift) {
        ASSERT_EQ(MostFlows(router, shift), 1) << spec << ", shift " << shift;
      }
    }
  }
}

// Two spines with two cables to each of four leaves of four hosts; every leaf's ports are in an
// order of its own, as in fabrics that are read from files.
TEST(ModK, DoesNotAskForPortsInOrder) {
  FabricBuilder builder;
  std::vector<DeviceId> leaves;
  const auto add_switch = [&](std::uint8_t tier, std::uint32_t number) {
    return builder.AddDevice({.kind = DeviceKind::kSwitch,
                              .tier = tier,
                              .node = Device::kNoNode,
                              .local = number,
                              .latency = {}});
  };
  const auto join = [&](DeviceId a, DeviceId b) {
    builder.AddCable(a, b, Rate::GigabitsPerSecond(400), Time(), LinkKind::kNetwork);
  };
  for (std::uint32_t l = 0; l < 4; ++l) leaves.push_back(add_switch(1, l));
  for (std::uint32_t h = 0; h < 16; ++h) {
    join(builder.AddDevice(
             {.kind = DeviceKind::kHost, .tier = 0, .node = h, .local = 0, .latency = {}}),
         leaves[h / 4]);
  }
  const std::vector<DeviceId> spines = {add_switch(2, 0), add_switch(2, 1)};
  const std::vector<std::vector<int>> orders = {
      {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}, {1, 1, 0, 0}};
  for (std::size_t l = 0; l < 4; ++l) {
    for (const int spine : orders[l]) join(leaves[l], spines[static_cast<std::size_t>(spine)]);
  }
  const Fabric fabric = std::move(builder).Build();
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  for (std::size_t shift = 1; shift < 16; ++shift) EXPECT_EQ(MostFlows(router, shift), 1) << shift;
}

// Zahavi's formula by hand: NICs with a port in each of two halves (w = 2), leaves with two cables
// to each of two spines above. Label 13 = 0b1101: first cable by 13 mod 2, then
// floor(13 / 2) mod 4 = 2, the first spine's second cable; down by floor(13 / 4) mod 2, the second.
TEST(ModK, DividesByTheParentsAndNotByTheCables) {
  const Fabric fabric = Build("fat-tree:children=[4,4],parents=[2,2],cables=[1,2]").fabric;
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  const auto ends = fabric.endpoints();
  ASSERT_EQ(ends.size(), 16U);
  const auto path = router.FindPath(ends[0], ends[13], 0);
  ASSERT_TRUE(path.has_value());
  ASSERT_EQ(path->size(), 4U);
  EXPECT_EQ((*path)[0], fabric.out(ends[0])[1]);
  const DeviceId leaf = fabric.link((*path)[0]).to;
  std::vector<LinkId> up;
  for (const LinkId link : fabric.out(leaf)) {
    if (fabric.device(fabric.link(link).to).tier == 2) up.push_back(link);
  }
  ASSERT_EQ(up.size(), 4U);
  EXPECT_EQ((*path)[1], up[2]);
  const DeviceId spine = fabric.link((*path)[1]).to;
  std::vector<LinkId> down;
  for (const LinkId link : fabric.out(spine)) {
    if (fabric.link(link).to == fabric.link((*path)[2]).to) down.push_back(link);
  }
  ASSERT_EQ(down.size(), 2U);
  EXPECT_EQ((*path)[2], down[1]);
}

// 96 ends of other leaves over 32 uplinks, 32 of a leaf over the 16 cables of a spine to it: what
// opensm's ftree writes as well (validation/opensm).
TEST(ModK, SpreadsDestinationsEvenlyOverPorts) {
  const Fabric fabric = Build("clos:nodes=128,radix=64").fabric;
  const auto ports = CountRoutes(fabric, RoutingPolicy::kFtree);
  ASSERT_TRUE(ports.has_value());
  ASSERT_EQ(ports->size(), 256U);
  for (std::size_t i = 0; i < ports->size(); ++i) {
    EXPECT_EQ((*ports)[i].destinations, i < 128 ? 3U : 2U);
  }
}

}  // namespace
}  // namespace trunkline
