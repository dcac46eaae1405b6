#include "trunkline/fabric/deadlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "fabric/routing/escape_routes.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using testing::HasSubstr;
using Verdict = DeadlockProof::Verdict;

DeadlockProof ProofOf(const Fabric& fabric, RoutingPolicy policy, bool virtual_channels,
                      RoutingParameters parameters = {}) {
  RouterOptions options;
  options.policy = policy;
  options.parameters = parameters;
  return ProveDeadlockFree(Router(fabric, options), virtual_channels);
}

TEST(DeadlockProof, HoldsForAnyShortestPathsOfAFatTree) {
  const Fabric fabric = FabricOf("fat-tree:k=8");
  for (const RoutingPolicy policy : {RoutingPolicy::kEcmp, RoutingPolicy::kAdaptive,
                                     RoutingPolicy::kMinHop, RoutingPolicy::kUpDown}) {
    const DeadlockProof proof = ProofOf(fabric, policy, false);
    EXPECT_EQ(proof.verdict, Verdict::kProved) << ToString(policy);
    EXPECT_EQ(proof.channels, 2 * 2 * 8 * 16);  // 256 cables between switches
    EXPECT_EQ(proof.tiers, policy != RoutingPolicy::kUpDown);
    EXPECT_EQ(proof.dependencies > 0, !proof.tiers);
  }
}

// A ring closes on itself: Dally and Seitz's example.
TEST(DeadlockProof, NamesTheRingOfATorusWithoutVirtualChannels) {
  const Fabric fabric = FabricOf("torus:sizes=[4,4]");
  const DeadlockProof proof = ProofOf(fabric, RoutingPolicy::kDor, false);
  EXPECT_EQ(proof.verdict, Verdict::kCycle);
  ASSERT_EQ(proof.cycle.size(), 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(fabric.link(proof.cycle[i].link).to, fabric.link(proof.cycle[(i + 1) % 4].link).from);
  }
  EXPECT_THAT(NameCycle(fabric, proof), HasSubstr(" -> "));
}

TEST(DeadlockProof, HoldsForDimensionOrderWithADateline) {
  for (const char* sides : {"[4,4]", "[3,5]", "[4,3,2]"}) {
    const Fabric fabric = FabricOf(std::string("torus:sizes=") + sides);
    EXPECT_EQ(ProofOf(fabric, RoutingPolicy::kDor, true).verdict, Verdict::kProved) << sides;
  }
}

TEST(DeadlockProof, HoldsForUpDownOnAnyFabric) {
  for (const char* text : {"torus:sizes=[4,4]", "dragonfly:h=2", "full-mesh:switches=6"}) {
    const Fabric fabric = FabricOf(text);
    EXPECT_EQ(ProofOf(fabric, RoutingPolicy::kUpDown, false).verdict, Verdict::kProved) << text;
  }
}

// Any two leaves still meet at the last spine, so no packet turns up again, though the spines that
// lack a cable have ways around it.
TEST(DeadlockProof, HoldsWhereCablesAreMissingAndEveryTwoLeavesStillMeet) {
  const Fabric whole = FabricOf("fat-tree:children=[3,4],parents=[1,3]");
  const std::vector<StaticFault> apart{
      {.target = "leaf-0/spine-0", .kind = StaticFault::Kind::kFail},
      {.target = "leaf-1/spine-1", .kind = StaticFault::Kind::kFail}};
  auto fabric = ApplyFaults(whole, apart);
  ASSERT_TRUE(fabric.has_value());
  EXPECT_EQ(ProofOf(*fabric, RoutingPolicy::kAdaptive, false).verdict, Verdict::kProved);

  // Without the last spine the two have to meet by way of another leaf, either way round.
  const std::vector<StaticFault> gone{{.target = "spine-2", .kind = StaticFault::Kind::kFail}};
  fabric = ApplyFaults(*fabric, gone);
  ASSERT_TRUE(fabric.has_value());
  EXPECT_EQ(ProofOf(*fabric, RoutingPolicy::kAdaptive, false).verdict, Verdict::kCycle);
}

TEST(DeadlockProof, FailsForShortestPathsOnATorusAndADragonfly) {
  for (const char* text : {"torus:sizes=[4,4]", "dragonfly:h=2"}) {
    const Fabric fabric = FabricOf(text);
    for (const RoutingPolicy policy : {RoutingPolicy::kEcmp, RoutingPolicy::kAdaptive}) {
      EXPECT_EQ(ProofOf(fabric, policy, false).verdict, Verdict::kCycle) << text;
    }
  }
}

// Duato: an escape that is free of cycles and leads everywhere from everywhere is enough, and there
// is one on any fabric that hangs together.
TEST(DeadlockProof, HoldsForAdaptiveRoutingWithAnEscape) {
  RoutingParameters parameters;
  parameters.virtual_channels = true;
  for (const char* text :
       {"torus:sizes=[4,4]", "torus:sizes=[5,3,2]", "dragonfly:h=2", "slim-fly:q=5"}) {
    const Fabric fabric = FabricOf(text);
    const DeadlockProof proof = ProofOf(fabric, RoutingPolicy::kAdaptive, true, parameters);
    EXPECT_EQ(proof.verdict, Verdict::kProved) << text;
    EXPECT_TRUE(proof.escape) << text;
    EXPECT_EQ(proof.lanes, fabric.torus().empty() ? 2 : 3) << text;
    EXPECT_GT(proof.dependencies, 0) << text;
  }
}

// Of an odd ring of n, where ways are of h = (n - 1) / 2 cables at most: each way round, n - 1
// pairs of cables before the ring closes, the one that closes it, and h - 2 behind.
TEST(DeadlockProof, CountsTheDependenciesOfARingsEscape) {
  for (const std::uint64_t n : {5U, 31U, 401U}) {
    const Fabric fabric = FabricOf("torus:sizes=[" + std::to_string(n) + "]");
    const DeadlockProof proof = ProofOf(fabric, RoutingPolicy::kAdaptive, true);
    EXPECT_TRUE(proof.escape);
    EXPECT_EQ(proof.dependencies, 2 * (n + (n - 1) / 2 - 2)) << n;
  }
}

// A torus that lacks a cable escapes up and down, since ways by dimension then turn.
TEST(DeadlockProof, HoldsForAdaptiveRoutingOnATorusWithAGap) {
  const Fabric whole = FabricOf("torus:sizes=[4,4]");
  const Link& first = whole.link(whole.out(whole.link(whole.out(whole.endpoints()[0])[0]).to)[1]);
  const std::vector<StaticFault> faults = {
      {.target = whole.name(first.from) + "/" + whole.name(first.to)}};
  const auto fabric = ApplyFaults(whole, faults);
  ASSERT_TRUE(fabric.has_value());
  const DeadlockProof proof = ProofOf(*fabric, RoutingPolicy::kAdaptive, true);
  EXPECT_EQ(proof.verdict, Verdict::kProved);
  EXPECT_TRUE(proof.escape);
}

// Dimension order needs both of its channels: with one, the graph of the escape closes rings.
TEST(EscapeRoutes, ChangeTheirChannelBehindTheCableThatClosesARing) {
  const Fabric fabric = FabricOf("torus:sizes=[4]");
  const EscapeRoutes escape(fabric);
  ASSERT_TRUE(escape.is_minimal());
  const auto switch_of = [&](std::size_t host) {
    return fabric.link(fabric.out(fabric.endpoints()[host])[0]).to;
  };
  // From the third switch to the first, over the fourth: 2 -> 3 -> 0.
  const auto up = escape.Next(switch_of(2), fabric.endpoints()[0]);
  ASSERT_TRUE(up.has_value());
  EXPECT_EQ(fabric.link(*up).to, switch_of(3));
  const auto closing = escape.Next(switch_of(3), fabric.endpoints()[1]);
  ASSERT_TRUE(closing.has_value());
  EXPECT_EQ(fabric.link(*closing).to, switch_of(0));
  const auto on = escape.Next(switch_of(0), fabric.endpoints()[1]);
  ASSERT_TRUE(on.has_value());
  EXPECT_EQ(escape.ChannelBehind(std::nullopt, 0, *closing), 0);
  EXPECT_EQ(escape.ChannelBehind(closing, 0, *on), 1);
  EXPECT_FALSE(escape.Next(switch_of(1), fabric.endpoints()[1]).has_value());
}

TEST(DeadlockProof, HoldsForEveryDragonflyPolicyWithItsVirtualChannelsAlone) {
  const Fabric dragonfly = FabricOf("dragonfly:h=2");
  const Fabric plus = FabricOf("dragonfly-plus:h=2");
  for (const RoutingPolicy policy :
       {RoutingPolicy::kMinimal, RoutingPolicy::kValiant, RoutingPolicy::kUgalL,
        RoutingPolicy::kUgalG, RoutingPolicy::kPar, RoutingPolicy::kDragonflyPlus}) {
    for (const bool via_router : {false, true}) {
      RoutingParameters parameters;
      parameters.via_router = via_router;
      for (const Fabric* fabric : {&dragonfly, &plus}) {
        EXPECT_EQ(ProofOf(*fabric, policy, true, parameters).verdict, Verdict::kProved)
            << ToString(policy) << " on " << fabric->device_count();
      }
      EXPECT_EQ(ProofOf(dragonfly, policy, false, parameters).verdict, Verdict::kCycle)
          << ToString(policy);
    }
  }
}

TEST(DeadlockProof, CountsLanesOfTheLiterature) {
  const Fabric torus = FabricOf("torus:sizes=[4,4]");
  EXPECT_EQ(VirtualChannels(torus, RoutingPolicy::kDor, {}), 2);
  EXPECT_EQ(VirtualChannels(torus, RoutingPolicy::kAdaptive, {}), 3);  // Duato's, two of them dor's
  const Fabric fabric = FabricOf("dragonfly:h=2");
  EXPECT_EQ(VirtualChannels(fabric, RoutingPolicy::kMinimal, {}), 2);  // Kim and others, 2008
  EXPECT_EQ(VirtualChannels(fabric, RoutingPolicy::kValiant, {}), 3);  // likewise, by a group
  EXPECT_EQ(VirtualChannels(fabric, RoutingPolicy::kUgalL, {.via_router = true}), 4);
  EXPECT_EQ(VirtualChannels(fabric, RoutingPolicy::kAdaptive, {}), 1);
}

// A minimal path by a third group crosses two cables between groups: Kim and others' reasons for
// one channel a cable give a third.
TEST(DeadlockProof, HoldsWhereTwoGroupsMeetInAThird) {
  const Fabric whole = FabricOf("dragonfly:h=2");
  std::vector<StaticFault> faults;
  for (std::size_t i = 0; i < whole.link_count(); ++i) {
    const Link& link = whole.link(LinkId(i));
    if (whole.device(link.from).group != 0 || whole.device(link.to).group != 1) continue;
    faults.push_back({.target = whole.name(link.from) + "/" + whole.name(link.to)});
  }
  ASSERT_EQ(faults.size(), 1);
  const auto fabric = ApplyFaults(whole, faults);
  ASSERT_TRUE(fabric.has_value());
  EXPECT_EQ(VirtualChannels(*fabric, RoutingPolicy::kMinimal, {}), 3);
  EXPECT_EQ(VirtualChannels(*fabric, RoutingPolicy::kValiant, {}), 3);
  for (const RoutingPolicy policy :
       {RoutingPolicy::kMinimal, RoutingPolicy::kValiant, RoutingPolicy::kUgalL,
        RoutingPolicy::kUgalG, RoutingPolicy::kPar, RoutingPolicy::kDragonflyPlus}) {
    EXPECT_EQ(ProofOf(*fabric, policy, true).verdict, Verdict::kProved) << ToString(policy);
    EXPECT_EQ(ProofOf(*fabric, policy, false).verdict, Verdict::kCycle) << ToString(policy);
  }
}

}  // namespace
}  // namespace trunkline
