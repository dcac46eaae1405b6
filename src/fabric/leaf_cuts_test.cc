#include "fabric/leaf_cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lemon/list_graph.h>
#include <lemon/preflow.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "trunkline/base/random.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// By leaf and spine, the rate of the cable in Gb/s; 0: missing. Each leaf has a host as fast as all
// of them together.
using LeafCables = std::vector<std::vector<std::int64_t>>;

struct LeafSpine {
  explicit LeafSpine(const LeafCables& cables) {
    FabricBuilder builder;
    std::vector<DeviceId> spines;
    for (std::uint32_t s = 0; s < cables.front().size(); ++s) {
      spines.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2, .local = s}));
    }
    for (std::uint32_t l = 0; l < cables.size(); ++l) {
      leaves.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = l}));
      hosts.push_back(builder.AddDevice({.kind = DeviceKind::kHost, .node = l}));
      builder.AddCable(hosts.back(), leaves.back(), Rate::GigabitsPerSecond(100'000), Time(),
                       LinkKind::kNetwork);
      std::vector<LinkId> up;
      std::vector<LinkId> down;
      for (std::uint32_t s = 0; s < spines.size(); ++s) {
        if (cables[l][s] == 0) continue;
        up.push_back(builder.AddCable(leaves.back(), spines[s],
                                      Rate::GigabitsPerSecond(cables[l][s]), Time(),
                                      LinkKind::kNetwork));
        down.push_back(LinkId(Index(up.back()) ^ 1U));
      }
      builder.AddTrunk(up);
      builder.AddTrunk(down);
    }
    fabric = std::move(builder).Build();
  }

  Fabric fabric;
  std::vector<DeviceId> leaves;
  std::vector<DeviceId> hosts;
};

TEST(LeafCuts, AreNoneWhereAllCablesAreThereAndEquallyFast) {
  const LeafSpine net({{100, 100}, {100, 100}, {100, 100}});
  EXPECT_THAT(FindLeafCuts(net.fabric, net.leaves[0], CutSide::kUp), IsEmpty());
  EXPECT_THAT(FindLeafCuts(net.fabric, net.leaves[0], CutSide::kDown), IsEmpty());
}

TEST(LeafCuts, AreNoneWhereTheTrunkOfTheOtherLeafBindsAsMuch) {
  const LeafSpine net({{100, 100}, {100, 50}, {100, 100}});
  for (const DeviceId leaf : net.leaves) {
    EXPECT_THAT(FindLeafCuts(net.fabric, leaf, CutSide::kUp), IsEmpty());
  }
}

TEST(LeafCuts, OfOneOtherLeafAreTheSlowerCablesByEachSpine) {
  const LeafSpine net({{100, 10}, {10, 100}});
  const auto cuts = FindLeafCuts(net.fabric, net.leaves[0], CutSide::kUp);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_THAT(cuts[0].leaves, ElementsAre(net.leaves[1]));
  EXPECT_EQ(cuts[0].capacity, Rate::GigabitsPerSecond(10 + 10));
}

// To one of them lead spines 0 and 1, to the other 1 and 2, of four.
TEST(LeafCuts, OfTwoOtherLeavesCountTheSpinesThatLeadToBothOnce) {
  const LeafSpine net({{100, 100, 100, 100}, {100, 100, 0, 0}, {0, 100, 100, 0}});
  const auto cuts = FindLeafCuts(net.fabric, net.leaves[0], CutSide::kUp);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_THAT(cuts[0].leaves, ElementsAre(net.leaves[1], net.leaves[2]));
  EXPECT_EQ(cuts[0].capacity, Rate::GigabitsPerSecond(300));
}

TEST(LeafCuts, HoldLeavesThatAddNothing) {
  const LeafSpine net({{100, 100, 100}, {100, 0, 0}, {100, 100, 0}});
  const auto cuts = FindLeafCuts(net.fabric, net.leaves[0], CutSide::kUp);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_THAT(cuts[0].leaves, ElementsAre(net.leaves[1], net.leaves[2]));
  EXPECT_EQ(cuts[0].capacity, Rate::GigabitsPerSecond(200));
}

// What leaf 0 can send to leaves 1 and 2 at once, each as much, in bit/s: by bisection over maximum
// flows.
std::int64_t MostToTwo(const LeafCables& cables) {
  using Graph = lemon::ListDigraph;
  using Capacities = Graph::ArcMap<std::int64_t>;
  Graph graph;
  Capacities capacity(graph);
  const auto connect = [&](Graph::Node from, Graph::Node to, std::int64_t gigabits) {
    const Graph::Arc arc = graph.addArc(from, to);
    capacity[arc] = gigabits * 1'000'000'000;
    return arc;
  };
  const Graph::Node source = graph.addNode();
  const Graph::Node sink = graph.addNode();
  const Graph::Node others[] = {graph.addNode(), graph.addNode()};
  for (std::size_t s = 0; s < cables[0].size(); ++s) {
    const Graph::Node spine = graph.addNode();
    connect(source, spine, cables[0][s]);
    for (std::size_t i = 0; i < 2; ++i) connect(spine, others[i], cables[i + 1][s]);
  }
  const Graph::Arc last[] = {connect(others[0], sink, 0), connect(others[1], sink, 0)};
  std::int64_t low = 0;
  std::int64_t high = 1'000'000'000'000;
  while (high - low > 1) {
    const std::int64_t each = (low + high) / 2;
    for (const Graph::Arc arc : last) capacity[arc] = each;
    lemon::Preflow<Graph, Capacities> preflow(graph, capacity, source, sink);
    preflow.run();
    (preflow.flowValue() == 2 * each ? low : high) = each;
  }
  return low;
}

// What the resources of the routes leave two flows that are equally fast, in bit/s.
double SharesOfTwo(const LeafSpine& net) {
  const Router router(net.fabric, {.policy = RoutingPolicy::kAdaptive});
  std::vector<double> load;
  for (const std::size_t to : {1U, 2U}) {
    const auto route = router.FindRoute(net.hosts[0], net.hosts[to], 0);
    if (!route) return -1;
    for (const Hop& hop : route->hops) {
      load.resize(std::max(load.size(), Index(hop.resource) + std::size_t{1}), 0);
      load[Index(hop.resource)] += hop.weight;
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < load.size(); ++i) {
    if (load[i] == 0) continue;
    const auto bits = static_cast<double>(router.capacity(ResourceId(i)).bits_per_second());
    least = std::min(least, bits / load[i]);
  }
  return least;
}

TEST(LeafCuts, LeaveAdaptiveFlowsToTwoLeavesWhatTheMaximumFlowDoes) {
  constexpr std::int64_t kRates[] = {0, 10, 25, 50, 100, 100, 100, 100};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LeafCables cables(4, std::vector<std::int64_t>(5));
    std::uint64_t draw = 0;
    for (auto& leaf : cables) {
      for (auto& rate : leaf) rate = kRates[Draw(seed, 1, draw++) % std::size(kRates)];
      leaf[0] = 25 + 25 * static_cast<std::int64_t>(Draw(seed, 2, draw++) % 3);  // joins all
    }
    EXPECT_NEAR(SharesOfTwo(LeafSpine(cables)), static_cast<double>(MostToTwo(cables)), 2) << seed;
  }
}

}  // namespace
}  // namespace trunkline
