#include "fabric/analysis/tiers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "fabric/network_paths.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/fault.h"

namespace trunkline {
namespace {

// Turns of shortest paths between ends that lead down and then up again.
std::size_t CountTurnsUp(const Fabric& fabric) {
  const auto climbs = [&](LinkId id) {
    return fabric.device(fabric.link(id).to).tier > fabric.device(fabric.link(id).from).tier;
  };
  std::size_t turns = 0;
  NetworkPaths(fabric).ForEachTurn(NetworkPaths::From::kEnds, [&](LinkId before, LinkId after) {
    turns += !climbs(before) && climbs(after) ? 1 : 0;
  });
  return turns;
}

TEST(Tiers, AreGoneUpThenDownInEveryWholeTree) {
  for (const char* text :
       {"single-switch:nodes=4", "fat-tree:k=4", "fat-tree:k=8",
        "fat-tree:children=[3,4],parents=[1,3]", "fat-tree:children=[2,3,4],parents=[1,2,3]",
        "clos:nodes=64,radix=16", "clos:nodes=48,radix=8,oversubscription=3",
        "rail-optimized:node=dgx-h100,nodes=8", "tree:arity=[4,3,2]"}) {
    const Fabric fabric = FabricOf(text);
    EXPECT_TRUE(GoesUpThenDown(fabric)) << text;
    EXPECT_EQ(CountTurnsUp(fabric), 0U) << text;
  }
}

TEST(Tiers, AreNotKnownToBeWhereSwitchesOfOneTierAreCabled) {
  for (const char* text : {"torus:sizes=[4,4]", "dragonfly:h=2", "dragonfly-plus:h=2",
                           "slim-fly:q=5", "full-mesh:switches=6"}) {
    EXPECT_FALSE(GoesUpThenDown(FabricOf(text))) << text;
  }
}

// Two leaves that share no spine meet by way of a third: down, and up again.
TEST(Tiers, AreNotKnownToBeWhereLeavesMeetInAnotherLeaf) {
  const Fabric whole = FabricOf("fat-tree:children=[3,3],parents=[1,2]");
  const std::vector<StaticFault> apart{
      {.target = "leaf-0/spine-0", .kind = StaticFault::Kind::kFail},
      {.target = "leaf-1/spine-1", .kind = StaticFault::Kind::kFail}};
  const auto fabric = ApplyFaults(whole, apart);
  ASSERT_TRUE(fabric.has_value());
  EXPECT_FALSE(GoesUpThenDown(*fabric));
  EXPECT_GT(CountTurnsUp(*fabric), 0U);
}

// Whatever cables are missing: never claimed where some shortest path turns up again.
TEST(Tiers, AreNeverClaimedWronglyWhereCablesAreMissing) {
  const Fabric whole = FabricOf("fat-tree:children=[2,2,3],parents=[1,2,2]");
  std::vector<std::string> cables;
  for (std::size_t i = 0; i < whole.link_count(); i += 2) {
    const Link& link = whole.link(LinkId(i));
    if (whole.device(link.from).kind != DeviceKind::kSwitch ||
        whole.device(link.to).kind != DeviceKind::kSwitch) {
      continue;
    }
    cables.push_back(whole.name(link.from) + "/" + whole.name(link.to));
  }
  std::size_t turning = 0;
  for (std::size_t a = 0; a < cables.size(); ++a) {
    for (std::size_t b = a + 1; b < cables.size(); ++b) {
      const std::vector<StaticFault> faults{
          {.target = cables[a], .kind = StaticFault::Kind::kFail},
          {.target = cables[b], .kind = StaticFault::Kind::kFail}};
      const auto fabric = ApplyFaults(whole, faults);
      if (!fabric) continue;
      const bool turns = CountTurnsUp(*fabric) > 0;
      turning += turns ? 1 : 0;
      EXPECT_FALSE(turns && GoesUpThenDown(*fabric)) << cables[a] << " " << cables[b];
    }
  }
  EXPECT_GT(turning, 0U);
}

}  // namespace
}  // namespace trunkline
