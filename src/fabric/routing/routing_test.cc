#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/builders/testing.h"
#include "fabric/routing/heights.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<LinkId> PathOf(const Router& router, std::size_t from, std::size_t to,
                           std::uint64_t flow = 0) {
  const auto ends = router.fabric().endpoints();
  auto path = router.FindPath(ends[from], ends[to], flow);
  EXPECT_TRUE(path.has_value()) << from << " to " << to;
  return *std::move(path);
}

bool IsGlobal(const Fabric& fabric, LinkId id) {
  const Device& from = fabric.device(fabric.link(id).from);
  const Device& to = fabric.device(fabric.link(id).to);
  return from.kind == DeviceKind::kSwitch && to.kind == DeviceKind::kSwitch &&
         from.group != to.group;
}

// Cables between groups, and within them, of the longest path between any two ends.
struct Stages {
  std::size_t global = 0;
  std::size_t local = 0;
};
Stages MostStages(const Router& router) {
  const Fabric& fabric = router.fabric();
  Stages most;
  for (std::size_t from = 0; from < fabric.endpoints().size(); ++from) {
    for (std::size_t to = 0; to < fabric.endpoints().size(); ++to) {
      if (from == to) continue;
      const auto path = PathOf(router, from, to, from * 7 + to);
      Stages own;
      for (std::size_t i = 1; i + 1 < path.size(); ++i) {
        ++(IsGlobal(fabric, path[i]) ? own.global : own.local);
      }
      most.global = std::max(most.global, own.global);
      most.local = std::max(most.local, own.local);
    }
  }
  return most;
}

TEST(DragonflyRouting, TakesAtMostOneGlobalAndTwoLocalCablesOnMinimalPaths) {
  const Fabric fabric = FabricOf("dragonfly:h=2");
  const Stages most = MostStages(Router(fabric, {.policy = RoutingPolicy::kMinimal}));
  EXPECT_EQ(most.global, 1);
  EXPECT_EQ(most.local, 2);
}

// The dragonfly of h = 2, whose every two groups share one cable, without the cables between the
// first group and some others.
Fabric Parted(const std::set<std::uint32_t>& groups) {
  const Fabric whole = FabricOf("dragonfly:h=2");
  std::vector<StaticFault> faults;
  for (std::size_t i = 0; i < whole.link_count(); ++i) {
    const Link& link = whole.link(LinkId(i));
    const std::uint32_t to = whole.device(link.to).group;
    if (whole.device(link.from).group != 0 || !groups.contains(to)) continue;
    faults.push_back({.target = whole.name(link.from) + "/" + whole.name(link.to)});
  }
  auto parted = ApplyFaults(whole, faults);
  EXPECT_TRUE(parted.has_value());
  return *std::move(parted);
}

TEST(DragonflyRouting, PassesAThirdGroupWhereNoCableJoinsTwo) {
  const Fabric fabric = Parted({1});
  for (const RoutingPolicy policy : {RoutingPolicy::kMinimal, RoutingPolicy::kValiant}) {
    const Router router(fabric, {.policy = policy});
    for (std::uint64_t flow = 0; flow < 16; ++flow) {
      const auto path = PathOf(router, 0, 8, flow);  // of the first group to the second
      EXPECT_EQ(std::ranges::count_if(path, [&](LinkId l) { return IsGlobal(fabric, l); }), 2);
    }
    const Stages most = MostStages(router);
    EXPECT_EQ(most.global, 2) << ToString(policy);
    EXPECT_LE(most.local, 3) << ToString(policy);
  }
}

TEST(DragonflyRouting, NamesThePairThatNoThirdGroupJoins) {
  const Fabric fabric = Parted({1, 2, 3, 4, 5, 6, 7, 8});
  const Router router(fabric, {.policy = RoutingPolicy::kUgalL});
  const auto path = router.FindPath(fabric.endpoints()[0], fabric.endpoints()[8], 0);
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error()[0].code, "TL1410");
  EXPECT_THAT(path.error()[0].message, HasSubstr("host-0 to host-8"));
}

TEST(DragonflyRouting, TakesAtMostTwoGlobalAndThreeLocalCablesByAGroupInBetween) {
  const Fabric fabric = FabricOf("dragonfly:h=2");
  const Stages most = MostStages(Router(fabric, {.policy = RoutingPolicy::kValiant}));
  EXPECT_EQ(most.global, 2);
  EXPECT_EQ(most.local, 3);
}

TEST(DragonflyRouting, TakesOneMoreLocalCableByARouterInBetween) {
  const Fabric fabric = FabricOf("dragonfly:h=2");
  RouterOptions options{.policy = RoutingPolicy::kValiant};
  options.parameters.via_router = true;
  const Stages most = MostStages(Router(fabric, options));
  EXPECT_EQ(most.global, 2);
  EXPECT_EQ(most.local, 4);
}

// The one cable between two groups carries what all p a hosts of the first send to the second.
TEST(DragonflyRouting, PutsAllTrafficOfAGroupPairOnItsOneCable) {
  const Fabric fabric = FabricOf("dragonfly:h=2");
  const Router router(fabric, {.policy = RoutingPolicy::kMinimal});
  std::set<LinkId> global;
  for (std::size_t host = 0; host < 8; ++host) {
    for (const LinkId link : PathOf(router, host, host + 8)) {
      if (IsGlobal(fabric, link)) global.insert(link);
    }
  }
  EXPECT_EQ(global.size(), 1);
}

// A path by one of all g groups; two of them make it minimal: 2 (g - 1) / g cables on average, of
// which the direct one carries 2 / g.
TEST(DragonflyRouting, SplitsAFluidValiantFlowEvenlyOverTheGroups) {
  const Fabric fabric = FabricOf("dragonfly:h=2");
  const Router valiant(fabric, {.policy = RoutingPolicy::kValiant});
  const auto ends = fabric.endpoints();
  const auto route = valiant.FindRoute(ends[0], ends[8], 0);
  ASSERT_TRUE(route.has_value());
  double global = 0;
  double most = 0;
  for (const Hop& hop : route->hops) {
    if (!IsGlobal(fabric, LinkId(Index(hop.resource)))) continue;
    global += hop.weight;
    most = std::max(most, hop.weight);
  }
  EXPECT_NEAR(global, 2.0 * 8 / 9, 1e-9);
  EXPECT_NEAR(most, 2.0 / 9, 1e-9);
}

// A 4 x 4 torus of switches with a host each.
Fabric Torus(std::vector<std::uint32_t> sides) {
  FabricBuilder builder;
  std::uint32_t count = 1;
  for (const std::uint32_t side : sides) count *= side;
  std::vector<DeviceId> switches;
  for (std::uint32_t i = 0; i < count; ++i) {
    switches.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch,
                                          .tier = 1,
                                          .node = Device::kNoNode,
                                          .local = i,
                                          .latency = {}}));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const DeviceId host = builder.AddDevice(
        {.kind = DeviceKind::kHost, .tier = 0, .node = i, .local = 0, .latency = {}});
    builder.AddCable(host, switches[i], Rate::GigabitsPerSecond(100), Time::Nanoseconds(50),
                     LinkKind::kNetwork);
  }
  for (std::uint32_t i = 0, stride = 1; i < sides.size(); stride *= sides[i++]) {
    for (std::uint32_t at = 0; at < count; ++at) {
      const std::uint32_t place = at / stride % sides[i];
      const std::uint32_t next = at + ((place + 1) % sides[i] - place) * stride;
      builder.AddCable(switches[at], switches[next], Rate::GigabitsPerSecond(100),
                       Time::Nanoseconds(50), LinkKind::kNetwork);
    }
  }
  builder.SetTorus(std::move(sides));
  return std::move(builder).Build();
}

TEST(DimensionOrder, FinishesOneDimensionBeforeTheNextOnShortestPaths) {
  const Fabric fabric = Torus({4, 5});
  const Router router(fabric, {.policy = RoutingPolicy::kDor});
  const auto ring = [](std::uint32_t a, std::uint32_t b, std::uint32_t k) {
    const std::uint32_t ahead = (b + k - a) % k;
    return std::min(ahead, k - ahead);
  };
  for (std::uint32_t from = 0; from < 20; ++from) {
    for (std::uint32_t to = 0; to < 20; ++to) {
      if (from == to) continue;
      const auto path = PathOf(router, from, to);
      EXPECT_EQ(path.size(), 2 + ring(from % 4, to % 4, 4) + ring(from / 4, to / 4, 5));
      bool second = false;
      for (std::size_t i = 1; i + 1 < path.size(); ++i) {
        const Link& link = fabric.link(path[i]);
        const bool in_second =
            fabric.device(link.from).local % 4 == fabric.device(link.to).local % 4;
        EXPECT_TRUE(in_second || !second);
        second = in_second;
      }
    }
  }
}

TEST(UpDown, NeverTurnsUpAgainAndReachesEverybody) {
  const Fabric fabric = Torus({4, 4});
  const Router router(fabric, {.policy = RoutingPolicy::kUpDown});
  const auto heights = SwitchHeights(fabric);
  for (std::size_t from = 0; from < 16; ++from) {
    for (std::size_t to = 0; to < 16; ++to) {
      if (from == to) continue;
      const auto path = PathOf(router, from, to);
      bool down = false;
      for (std::size_t i = 1; i + 1 < path.size(); ++i) {
        const Link& link = fabric.link(path[i]);
        const bool falls = heights[Index(link.to)] < heights[Index(link.from)];
        EXPECT_TRUE(falls || !down) << from << " to " << to;
        down = falls;
      }
    }
  }
}

// Leaves 0, 1 and 2 with a host each, spine 0 above the first two, spine 1 above the last two: from
// leaf 0 to leaf 2 a way leads down to leaf 1 and up again.
TEST(UpDown, SaysThatItsRulePartsWhatCablesJoin) {
  FabricBuilder builder;
  std::vector<DeviceId> hosts;
  std::vector<DeviceId> leaves;
  const auto join = [&](DeviceId a, DeviceId b) {
    builder.AddCable(a, b, Rate::GigabitsPerSecond(400), Time(), LinkKind::kNetwork);
  };
  for (std::uint32_t i = 0; i < 3; ++i) {
    hosts.push_back(builder.AddDevice(
        {.kind = DeviceKind::kHost, .tier = 0, .node = i, .local = 0, .latency = {}}));
    leaves.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch,
                                        .tier = 1,
                                        .node = Device::kNoNode,
                                        .local = i,
                                        .latency = {}}));
    join(hosts[i], leaves[i]);
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    const DeviceId spine = builder.AddDevice({.kind = DeviceKind::kSwitch,
                                              .tier = 2,
                                              .node = Device::kNoNode,
                                              .local = i,
                                              .latency = {}});
    join(leaves[i], spine);
    join(leaves[i + 1], spine);
  }
  const Fabric fabric = std::move(builder).Build();
  const Router router(fabric, {.policy = RoutingPolicy::kUpDown});
  EXPECT_TRUE(router.FindRoute(hosts[0], hosts[1], 0));
  const auto none = router.FindRoute(hosts[0], hosts[2], 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().front().code, "TL1410");
  EXPECT_NE(none.error().front().hint.find("turns up again"), std::string::npos);
  EXPECT_TRUE(Router(fabric, {.policy = RoutingPolicy::kMinHop}).FindRoute(hosts[0], hosts[2], 0));
}

TEST(UpDown, IsShortestInAFatTree) {
  const Fabric fabric = FabricOf("fat-tree:k=4");
  const Router up_down(fabric, {.policy = RoutingPolicy::kUpDown});
  const Router shortest(fabric, {.policy = RoutingPolicy::kEcmp});
  for (std::size_t to = 1; to < 16; ++to) {
    EXPECT_EQ(PathOf(up_down, 0, to).size(), PathOf(shortest, 0, to).size());
  }
}

// 16 hosts on 4 leaves below 4 spines: a leaf sends the 12 destinations of the others by 4 uplinks.
TEST(MinHop, SpreadsDestinationsEvenlyOverPorts) {
  const Fabric fabric = FabricOf("fat-tree:children=[4,4],parents=[1,4]");
  const Router router(fabric, {.policy = RoutingPolicy::kMinHop});
  std::map<LinkId, int> destinations;
  for (std::size_t to = 4; to < 16; ++to) ++destinations[PathOf(router, 0, to)[1]];
  EXPECT_EQ(destinations.size(), 4);
  for (const auto& [link, count] : destinations) EXPECT_EQ(count, 3);
}

TEST(WeightedEcmp, FollowsTheCapacityThatIsLeft) {
  // Two spines; one has lost half of its rate towards the second leaf.
  auto spec = ParseFabricSpec("fat-tree:children=[4,2],parents=[1,2]");
  ASSERT_TRUE(spec.has_value());
  auto built = BuildFabric(*spec);
  ASSERT_TRUE(built.has_value());
  const std::vector<StaticFault> faults = {
      {.target = "leaf-1/spine-0", .kind = StaticFault::Kind::kDegrade, .fraction = 0.5}};
  const auto fabric = ApplyFaults(built->fabric, faults);
  ASSERT_TRUE(fabric.has_value());
  const auto share = [&](RoutingPolicy policy) {
    const Router router(*fabric, {.policy = policy});
    int by_weak = 0;
    for (std::uint64_t flow = 0; flow < 3'000; ++flow) {
      const Link& link = fabric->link(PathOf(router, 0, 4, flow)[1]);
      if (fabric->name(link.to) == "spine-0") ++by_weak;
    }
    return by_weak / 3'000.0;
  };
  EXPECT_NEAR(share(RoutingPolicy::kEcmp), 1.0 / 2, 0.03);
  EXPECT_NEAR(share(RoutingPolicy::kWeightedEcmp), 1.0 / 3, 0.03);
}

// Where every switch hashes alike, a flow that took the n-th port takes the n-th again: of a
// three-tier fat tree's four cores, only those of equal digits are used.
TEST(Ecmp, PolarisesWhereAllSwitchesHashAlike) {
  const Fabric fabric = FabricOf("fat-tree:k=4");
  const auto cores = [&](bool seed_per_switch) {
    RouterOptions options{.policy = RoutingPolicy::kEcmp};
    options.parameters.seed_per_switch = seed_per_switch;
    const Router router(fabric, options);
    std::set<DeviceId> used;
    for (std::uint64_t flow = 0; flow < 200; ++flow) {
      used.insert(fabric.link(PathOf(router, 0, 15, flow)[2]).to);
    }
    return used.size();
  };
  EXPECT_EQ(cores(true), 4);
  EXPECT_EQ(cores(false), 2);
}

TEST(CheckRouting, RefusesAFabricWithoutWhatThePolicyNeedsAndNamesWhatWorks) {
  const Fabric tree = FabricOf("fat-tree:k=4");
  const Fabric dragonfly = FabricOf("dragonfly:h=2");
  for (const RoutingPolicy policy :
       {RoutingPolicy::kDor, RoutingPolicy::kValiant, RoutingPolicy::kDragonflyPlus}) {
    const Diagnostics problems = CheckRouting(tree, policy);
    ASSERT_EQ(problems.size(), 1);
    EXPECT_EQ(problems[0].code, "TL1413");
    EXPECT_THAT(problems[0].hint, HasSubstr("up-down"));
    EXPECT_THAT(problems[0].hint, testing::Not(HasSubstr("valiant")));
  }
  EXPECT_THAT(CheckRouting(dragonfly, RoutingPolicy::kValiant), IsEmpty());
  EXPECT_EQ(CheckRouting(dragonfly, RoutingPolicy::kDor)[0].code, "TL1413");
}

TEST(ReadRouting, ReadsThePolicysOwnKeysAndRefusesThoseOfOthers) {
  const auto spec = ParseFabricSpec(
      "dragonfly:h=2,routing={policy: ugal-l, threshold: 4 KiB, "
      "intermediate: router}");
  ASSERT_TRUE(spec.has_value()) << Format(spec.error()[0]);
  EXPECT_EQ(spec->routing, RoutingPolicy::kUgalL);
  EXPECT_EQ(spec->routing_parameters.threshold, Bytes(4096));
  EXPECT_TRUE(spec->routing_parameters.via_router);
  const auto foreign = ParseFabricSpec("dragonfly:h=2,routing={policy: valiant, threshold: 1 B}");
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error()[0].code, "TL1415");
  EXPECT_THAT(foreign.error()[0].hint, HasSubstr("intermediate"));
}

}  // namespace
}  // namespace trunkline
