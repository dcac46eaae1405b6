#include "trunkline/fabric/route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/base/random.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/placement.h"

namespace trunkline {
namespace {

constexpr Rate kHostRate = Rate::GigabitsPerSecond(400);
constexpr Rate kUplinkRate = Rate::GigabitsPerSecond(100);
constexpr Time kCable = Time::Nanoseconds(50);
constexpr Time kForwarding = Time::Nanoseconds(300);

struct Clos {
  std::uint32_t leaves = 2;
  std::uint32_t spines = 4;
  std::uint32_t hosts_per_leaf = 2;
  bool trunks = true;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> missing = {};  // cables: leaf and spine
};

Fabric ClosFabric(const Clos& clos) {
  FabricBuilder builder;
  std::vector<DeviceId> spines;
  for (std::uint32_t s = 0; s < clos.spines; ++s) {
    spines.push_back(builder.AddDevice(
        {.kind = DeviceKind::kSwitch, .tier = 2, .local = s, .latency = kForwarding}));
  }
  for (std::uint32_t l = 0; l < clos.leaves; ++l) {
    const DeviceId leaf = builder.AddDevice(
        {.kind = DeviceKind::kSwitch, .tier = 1, .local = l, .latency = kForwarding});
    for (std::uint32_t h = 0; h < clos.hosts_per_leaf; ++h) {
      const DeviceId host =
          builder.AddDevice({.kind = DeviceKind::kHost, .node = l * clos.hosts_per_leaf + h});
      builder.AddCable(host, leaf, kHostRate, kCable, LinkKind::kNetwork);
    }
    std::vector<LinkId> up;
    std::vector<LinkId> down;
    for (std::uint32_t s = 0; s < clos.spines; ++s) {
      if (std::ranges::find(clos.missing, std::pair(l, s)) != clos.missing.end()) continue;
      up.push_back(builder.AddCable(leaf, spines[s], kUplinkRate, kCable, LinkKind::kNetwork));
      down.push_back(LinkId(Index(up.back()) ^ 1U));
    }
    if (clos.trunks) {
      builder.AddTrunk(up);
      builder.AddTrunk(down);
    }
  }
  return std::move(builder).Build();
}

DeviceId Named(const Fabric& fabric, const std::string& name) {
  const auto found = fabric.Find(name);
  EXPECT_EQ(found.size(), 1U) << name;
  return found.empty() ? DeviceId{} : found[0];
}

Route RouteOf(const Fabric& fabric, RouterOptions options, const std::string& src,
              const std::string& dst, std::uint64_t flow = 0) {
  const Router router(fabric, options);
  const auto route = router.FindRoute(Named(fabric, src), Named(fabric, dst), flow);
  EXPECT_TRUE(route.has_value());
  return route.value_or(Route());
}

std::vector<std::string> Names(const Fabric& fabric, const std::vector<LinkId>& path) {
  std::vector<std::string> names;
  for (LinkId link : path) names.push_back(fabric.name(fabric.link(link).to));
  return names;
}

TEST(Router, CountsCablesAndSwitchesInLatency) {
  const Fabric fabric = ClosFabric({});
  EXPECT_EQ(RouteOf(fabric, {}, "host-0", "host-1").latency, kCable * 2 + kForwarding);
  EXPECT_EQ(RouteOf(fabric, {}, "host-0", "host-2").latency, kCable * 4 + kForwarding * 3);
}

TEST(Router, BalancingPoliciesUseTrunksSoThatRoutesStayShort) {
  const Fabric fabric = ClosFabric({});
  for (RoutingPolicy policy : {RoutingPolicy::kSpray, RoutingPolicy::kAdaptive}) {
    const Route route = RouteOf(fabric, {.policy = policy}, "host-0", "host-2");
    ASSERT_EQ(route.hops.size(), 4U);
    EXPECT_EQ(route.hops[1].resource, fabric.trunk_resource(0));  // up from leaf 0
    EXPECT_EQ(route.hops[2].resource, fabric.trunk_resource(3));  // down to leaf 1
    EXPECT_EQ(route.limit, kHostRate);                            // 4 uplinks of 100 Gb/s
  }
}

TEST(Router, SinglePathPoliciesAreBoundByOneUplink) {
  const Fabric fabric = ClosFabric({});
  for (RoutingPolicy policy : {RoutingPolicy::kEcmp, RoutingPolicy::kStatic}) {
    const Route route = RouteOf(fabric, {.policy = policy}, "host-0", "host-2");
    ASSERT_EQ(route.hops.size(), 4U);
    for (const Hop& hop : route.hops) EXPECT_LT(Index(hop.resource), fabric.link_count());
    EXPECT_EQ(route.limit, kUplinkRate);
  }
}

TEST(Router, WireOverheadWeighsOnNetworkLinks) {
  const Fabric fabric = ClosFabric({});
  const Route route =
      RouteOf(fabric, {.wire_bytes = 4166, .payload_bytes = 4096}, "host-0", "host-1");
  ASSERT_EQ(route.hops.size(), 2U);
  EXPECT_DOUBLE_EQ(route.hops[0].weight, 4166.0 / 4096.0);
  // 400 Gb/s x 4096/4166 = 393,278,924,627.94… b/s
  EXPECT_EQ(route.limit.bits_per_second(), 393'278'924'627);
}

TEST(Router, SprayWithoutTrunksSplitsEvenlyOverEveryMinimalPath) {
  const Fabric fabric = ClosFabric({.trunks = false});
  const Route route = RouteOf(fabric, {.policy = RoutingPolicy::kSpray}, "host-0", "host-2");
  ASSERT_EQ(route.hops.size(), 1U + 4U + 4U + 1U);
  int quarters = 0;
  for (const Hop& hop : route.hops) quarters += hop.weight == 0.25;
  EXPECT_EQ(quarters, 8);
  EXPECT_EQ(route.limit, kHostRate);
}

TEST(Router, SprayLeavesTrunksWhereACableIsMissing) {
  // Leaf 0 has three uplinks left; leaf 1's fourth downlink is never reached from there.
  const Fabric fabric = ClosFabric({.missing = {{0, 3}}});
  const Route route = RouteOf(fabric, {.policy = RoutingPolicy::kSpray}, "host-0", "host-2");
  ASSERT_EQ(route.hops.size(), 1U + 3U + 3U + 1U);
  EXPECT_EQ(route.limit.bits_per_second(), 300'000'000'000);
}

// Cables 0-0 and 1-1 are missing, of leaves with four uplinks.
TEST(Router, AdaptiveFlowsCrossThePartOfATrunkThatLeadsToThem) {
  const Fabric fabric = ClosFabric({.leaves = 3, .missing = {{0, 0}, {1, 1}}});
  const Router router(fabric, {.policy = RoutingPolicy::kAdaptive});
  // Spines 2 and 3 are what leaves 0 and 1 have in common, of three uplinks each.
  const auto both = router.FindRoute(Named(fabric, "host-0"), Named(fabric, "host-2"), 0);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->limit, Rate::GigabitsPerSecond(200));
  ASSERT_EQ(both->hops.size(), 6U);  // of each trunk its part
  EXPECT_EQ(both->hops[1].resource, fabric.trunk_resource(0));
  EXPECT_EQ(router.trunk_links(both->hops[2].resource).size(), 2U);
  EXPECT_EQ(both->hops[3].resource, fabric.trunk_resource(3));
  EXPECT_EQ(router.trunk_links(both->hops[4].resource).size(), 2U);
  // Leaf 2 has all cables: of leaf 0's three it reaches all by three of its four.
  const auto one = router.FindRoute(Named(fabric, "host-4"), Named(fabric, "host-0"), 0);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->limit, Rate::GigabitsPerSecond(300));
  ASSERT_EQ(one->hops.size(), 5U);
  EXPECT_EQ(router.trunk_links(one->hops[2].resource).size(), 3U);
}

TEST(Router, PartsOfTrunksAreOneResourceForAllWhoUseThem) {
  const Fabric fabric = ClosFabric({.leaves = 3, .missing = {{0, 0}, {1, 1}}});
  const Router router(fabric, {.policy = RoutingPolicy::kAdaptive});
  std::set<ResourceId> parts;
  for (const DeviceId from : fabric.endpoints()) {
    for (const DeviceId to : fabric.endpoints()) {
      if (from == to) continue;
      const auto route = router.FindRoute(from, to, 0);
      ASSERT_TRUE(route.has_value());
      for (const Hop& hop : route->hops) {
        if (Index(hop.resource) >= fabric.resource_count()) parts.insert(hop.resource);
      }
    }
  }
  // Up and down: of leaf 0 towards 1, of leaf 1 towards 0, and of leaf 2 towards each.
  EXPECT_EQ(parts.size(), 8U);
}

TEST(Router, DegradedLinkBindsSprayFullyAndAdaptiveByItsLossAlone) {
  FabricBuilder builder;
  const DeviceId a = builder.AddDevice({.kind = DeviceKind::kHost, .node = 0});
  const DeviceId b = builder.AddDevice({.kind = DeviceKind::kHost, .node = 1});
  const DeviceId left = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = 0});
  const DeviceId right = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = 1});
  builder.AddCable(a, left, kHostRate, kCable, LinkKind::kNetwork);
  builder.AddCable(b, right, kHostRate, kCable, LinkKind::kNetwork);
  std::vector<LinkId> cables;
  for (int i = 0; i < 4; ++i) {
    cables.push_back(builder.AddCable(left, right, kUplinkRate, kCable, LinkKind::kNetwork));
  }
  builder.SetRate(cables[0], Rate::GigabitsPerSecond(50));
  builder.AddTrunk(cables);
  const Fabric fabric = std::move(builder).Build();
  EXPECT_EQ(RouteOf(fabric, {.policy = RoutingPolicy::kSpray}, "host-0", "host-1").limit,
            Rate::GigabitsPerSecond(200));
  EXPECT_EQ(RouteOf(fabric, {.policy = RoutingPolicy::kAdaptive}, "host-0", "host-1").limit,
            Rate::GigabitsPerSecond(350));
}

TEST(Router, StaticSendsEachDestinationOfALeafOverItsOwnSpine) {
  const Fabric fabric = ClosFabric({.leaves = 2, .spines = 4, .hosts_per_leaf = 4});
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  for (std::uint32_t destination = 4; destination < 8; ++destination) {
    const auto path = router.FindPath(Named(fabric, "host-0"),
                                      Named(fabric, "host-" + std::to_string(destination)), 9);
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(Names(fabric, *path)[1], "spine-" + std::to_string(destination % 4));
  }
}

TEST(Router, EcmpLoadsUplinksAsBallsInBins) {
  // 4,096 flows on 16 uplinks: each holds a binomial(4096, 1/16) count, mean 256 and standard
  // deviation 15.5, so chi-square with 15 degrees of freedom stays under 37.7 (p = 0.001) and the
  // fullest link over the mean.
  const Fabric fabric = ClosFabric({.leaves = 2, .spines = 16, .hosts_per_leaf = 64});
  const Router router(fabric, {.policy = RoutingPolicy::kEcmp});
  std::map<std::uint32_t, int> load;
  for (std::uint32_t src = 0; src < 64; ++src) {
    for (std::uint32_t dst = 64; dst < 128; ++dst) {
      const auto path = router.FindPath(fabric.endpoints()[src], fabric.endpoints()[dst], 0);
      ASSERT_TRUE(path.has_value());
      ++load[fabric.device(fabric.link((*path)[1]).to).local];
    }
  }
  ASSERT_EQ(load.size(), 16U);
  double chi_square = 0;
  for (const auto& [spine, count] : load) chi_square += std::pow(count - 256, 2) / 256;
  EXPECT_LT(chi_square, 37.7);
  const auto fullest = std::ranges::max_element(
      load, {}, [](const auto& spine_and_count) { return spine_and_count.second; });
  EXPECT_GT(fullest->second, 256);
}

TEST(Router, EcmpDependsOnSeedAndFlow) {
  const Fabric fabric = ClosFabric({.leaves = 2, .spines = 16, .hosts_per_leaf = 1});
  std::map<LinkId, int> by_flow;
  std::map<LinkId, int> by_seed;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto [src, dst] = std::pair(fabric.endpoints()[0], fabric.endpoints()[1]);
    ++by_flow[(*Router(fabric, {.policy = RoutingPolicy::kEcmp}).FindPath(src, dst, i))[1]];
    ++by_seed[(
        *Router(fabric, {.policy = RoutingPolicy::kEcmp, .seed = i}).FindPath(src, dst, 0))[1]];
  }
  EXPECT_GT(by_flow.size(), 8U);
  EXPECT_GT(by_seed.size(), 8U);
}

TEST(Router, NamesTheCutWhereNoPathExists) {
  FabricBuilder builder;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = i});
    const DeviceId host = builder.AddDevice({.kind = DeviceKind::kHost, .node = i});
    builder.AddCable(host, leaf, kHostRate, kCable, LinkKind::kNetwork);
  }
  builder.AddDevice({.kind = DeviceKind::kHost, .node = 2});
  const Fabric fabric = std::move(builder).Build();
  const Router router(fabric, {});
  const auto split = router.FindRoute(fabric.endpoints()[0], fabric.endpoints()[1], 0);
  ASSERT_FALSE(split.has_value());
  EXPECT_EQ(split.error()[0].code, "TL1410");
  EXPECT_NE(split.error()[0].hint.find("leaf-1"), std::string::npos) << split.error()[0].hint;
  const auto uncabled = router.FindPath(fabric.endpoints()[0], fabric.endpoints()[2], 0);
  ASSERT_FALSE(uncabled.has_value());
  EXPECT_NE(uncabled.error()[0].hint.find("host-2"), std::string::npos);
}

// Two GPUs, each with its own PCIe switch and NIC, under one CPU; NVLink between the GPUs.
Fabric SmallServers(bool nvlink) {
  FabricBuilder builder;
  const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  const Rate pcie = Rate::GigabytesPerSecond(60);
  for (std::uint32_t node = 0; node < 2; ++node) {
    const DeviceId cpu = builder.AddDevice({.kind = DeviceKind::kCpu, .node = node});
    std::vector<DeviceId> gpus;
    for (std::uint32_t i = 0; i < 2; ++i) {
      gpus.push_back(builder.AddDevice({.kind = DeviceKind::kGpu, .node = node, .local = i}));
      const DeviceId bridge =
          builder.AddDevice({.kind = DeviceKind::kPcieSwitch, .node = node, .local = i});
      const DeviceId nic = builder.AddDevice({.kind = DeviceKind::kNic, .node = node, .local = i});
      builder.AddCable(gpus[i], bridge, pcie, kCable, LinkKind::kPcie);
      builder.AddCable(nic, bridge, pcie, kCable, LinkKind::kPcie);
      builder.AddCable(bridge, cpu, pcie, kCable, LinkKind::kPcie);
      builder.AddCable(nic, leaf, kHostRate, kCable, LinkKind::kNetwork);
    }
    if (nvlink) {
      builder.AddCable(gpus[0], gpus[1], Rate::GigabytesPerSecond(300), kCable, LinkKind::kNvlink);
    }
  }
  return std::move(builder).Build();
}

std::vector<std::string> PathOf(const Fabric& fabric, GpuDirect gpudirect, const std::string& src,
                                const std::string& dst) {
  const Router router(fabric, {.gpudirect = gpudirect});
  const auto path = router.FindPath(Named(fabric, src), Named(fabric, dst), 0);
  EXPECT_TRUE(path.has_value());
  return Names(fabric, path.value_or(std::vector<LinkId>()));
}

TEST(Router, PrefersNvlinkInsideANodeAndElseTakesPcie) {
  using Path = std::vector<std::string>;
  EXPECT_EQ(PathOf(SmallServers(true), GpuDirect::kOn, "gpu:1/0", "gpu:1/1"), Path{"gpu:1/1"});
  EXPECT_EQ(PathOf(SmallServers(false), GpuDirect::kOn, "gpu:1/0", "gpu:1/1"),
            (Path{"pcie-switch:1/0", "cpu:1/0", "pcie-switch:1/1", "gpu:1/1"}));
}

TEST(Router, LeavesANodeThroughTheNicNearestToTheGpu) {
  using Path = std::vector<std::string>;
  EXPECT_EQ(
      PathOf(SmallServers(true), GpuDirect::kOn, "gpu:0/0", "gpu:1/1"),
      (Path{"pcie-switch:0/0", "nic:0/0", "leaf-0", "nic:1/1", "pcie-switch:1/1", "gpu:1/1"}));
}

TEST(Router, WithoutGpuDirectDataPassesThroughHostMemory) {
  using Path = std::vector<std::string>;
  EXPECT_EQ(PathOf(SmallServers(true), GpuDirect::kOff, "gpu:0/0", "gpu:1/1"),
            (Path{"pcie-switch:0/0", "cpu:0/0", "pcie-switch:0/0", "nic:0/0", "leaf-0", "nic:1/1",
                  "pcie-switch:1/1", "cpu:1/0", "pcie-switch:1/1", "gpu:1/1"}));
}

TEST(Router, WeighsBusesInsideANodeWithoutWireOverhead) {
  const Fabric fabric = SmallServers(true);
  const Route route = RouteOf(fabric, {.wire_bytes = 2, .payload_bytes = 1}, "gpu:0/0", "gpu:1/0");
  ASSERT_EQ(route.hops.size(), 6U);
  EXPECT_EQ(route.hops[0].weight, 1);
  EXPECT_EQ(route.hops[2].weight, 2);
  EXPECT_EQ(route.limit, Rate::GigabitsPerSecond(200));
}

TEST(RoutingPolicies, AreFoundByNameAndSuggestTheClosest) {
  for (const RoutingPolicyInfo& info : RoutingPolicies()) {
    EXPECT_EQ(ParseRoutingPolicy(info.name), info.policy);
    EXPECT_EQ(ToString(info.policy), info.name);
  }
  const auto misspelt = ParseRoutingPolicy("adaptve");
  ASSERT_FALSE(misspelt.has_value());
  EXPECT_EQ(misspelt.error()[0].code, "TL1412");
  EXPECT_NE(misspelt.error()[0].hint.find("'adaptive'"), std::string::npos);
}

TEST(RouteFinder, FindsWhatTheRouterFindsInWhateverOrderItIsAsked) {
  // One spine: a single path, whose stem the next destination of the leaf shares. Four: forks.
  for (const std::uint32_t spines : {1U, 4U}) {
    for (const RoutingPolicyInfo& policy : RoutingPolicies()) {
      const Fabric fabric = ClosFabric({.leaves = 3, .spines = spines, .hosts_per_leaf = 3});
      if (!CheckRouting(fabric, policy.policy).empty()) continue;
      const Router router(fabric, {.policy = policy.policy, .wire_bytes = 9, .payload_bytes = 8});
      RouteFinder finder(router);
      const auto hosts = fabric.endpoints();
      const std::size_t pairs = hosts.size() * hosts.size();
      for (std::size_t i = 0; i < 8 * pairs; ++i) {
        // Destinations in a row first, then in steps of five, then anyhow.
        const std::size_t pair = i < 2 * pairs ? i : i < 4 * pairs ? 5 * i : HashCombine(i, spines);
        const DeviceId src = hosts[pair / hosts.size() % hosts.size()];
        const DeviceId dst = hosts[pair % hosts.size()];
        if (src == dst) continue;
        const auto expected = router.FindRoute(src, dst, i);
        const auto found = finder.Find(src, dst, i);
        ASSERT_TRUE(expected && found);
        EXPECT_EQ((*found)->latency, expected->latency);
        EXPECT_EQ((*found)->limit, expected->limit);
        ASSERT_EQ((*found)->hops.size(), expected->hops.size());
        for (std::size_t hop = 0; hop < expected->hops.size(); ++hop) {
          EXPECT_EQ((*found)->hops[hop].resource, expected->hops[hop].resource);
          EXPECT_EQ((*found)->hops[hop].weight, expected->hops[hop].weight);
        }
      }
    }
  }
}

}  // namespace
}  // namespace trunkline
