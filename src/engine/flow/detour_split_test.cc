#include "engine/flow/detour_split.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/test_units.h"
#include "trunkline/engine/traffic.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

double Gbps(FlowRate rate) { return rate.bits_per_second() * 1e-9; }

// Two flows of one full minimal path, with two more ways: the path is shared, and each has half of
// either way beside it.
TEST(DivideFlows, FillsMinimalPathsFirstAndDetoursWithTheRest) {
  FlowNetwork network({});
  const std::vector<Rate> capacities(3, k100Gb);
  const std::vector<FlowHop> minimal = {{0}};
  const Ways detours(std::vector<std::vector<FlowHop>>{{{1}}, {{2}}});
  const FlowRate limit{FlowRate{static_cast<std::uint64_t>(k100Gb.bits_per_second()) << 10}};
  const auto rates =
      DivideFlows(std::vector<DividedFlow>(2, {minimal, &detours, limit}), capacities, network);
  for (const DividedRate& rate : rates) {
    EXPECT_NEAR(Gbps(rate.minimal), 50, 1e-6);
    EXPECT_NEAR(Gbps(rate.sum()), 100, 1e-6);  // the limit
    EXPECT_EQ(rate.detours[0], rate.detours[1]);
  }
  const auto alone =
      DivideFlows(std::vector<DividedFlow>(1, {minimal, &detours, limit}), capacities, network);
  EXPECT_NEAR(Gbps(alone[0].minimal), 100, 1e-6);
  EXPECT_EQ(alone[0].sum(), alone[0].minimal);
}

// Of two ways one is full with another flow's minimal path. A packet draws each of the two as
// often: half of the flow may take the other, were that as fast as its own path.
TEST(DivideFlows, GoesByOtherWaysWhereOneIsFullAsFarAsPacketsDrawThem) {
  FlowNetwork network({});
  const std::vector<Rate> capacities = {Rate::GigabitsPerSecond(30), k100Gb, k100Gb};
  const std::vector<FlowHop> mine = {{0}};
  const std::vector<FlowHop> other = {{1}};
  const Ways detours(std::vector<std::vector<FlowHop>>{{{1}}, {{2}}});
  const FlowRate limit{static_cast<std::uint64_t>(k100Gb.bits_per_second()) << 10};
  const auto rates =
      DivideFlows(std::vector<DividedFlow>{{mine, &detours, limit}, {other, nullptr, limit}},
                  capacities, network);
  EXPECT_NEAR(Gbps(rates[0].minimal), 30, 1e-6);
  EXPECT_EQ(rates[0].detours[0].units, 0);
  EXPECT_NEAR(Gbps(rates[0].detours[1]), 30, 1e-6);
  EXPECT_NEAR(Gbps(rates[1].minimal), 100, 1e-6);
}

TEST(HopsOf, WeighsBothPartsByWhatTheyMove) {
  const std::vector<FlowHop> minimal = {{0}, {3}};
  const Ways detours(std::vector<std::vector<FlowHop>>{{{1}, {3}}, {{2}, {3}}});
  HopSum sum;
  const auto hops =
      HopsOf({minimal, &detours, {}}, {.minimal = {100}, .detours = {{150}, {150}}}, sum);
  ASSERT_EQ(hops.size(), 4);
  EXPECT_EQ(hops[0].weight, FlowHop::kOne / 4);
  EXPECT_EQ(hops[1].weight, FlowHop::kOne);  // the last hop, of all
  EXPECT_EQ(hops[2].weight, FlowHop::kOne / 8 * 3);
  EXPECT_EQ(hops[3].weight, FlowHop::kOne / 8 * 3);
}

// 72 hosts of p = 2, a = 4, h = 2, g = 9. Endless flows to the next group, as shares of hosts'
// links: 1 / (a p) on minimal paths; the bound of Kim and others, g / (2 (g - 1)), where minimal
// paths are full and the rest goes by the seven other groups, whose cables carry it twice.
double GroupShift(RoutingPolicy policy, std::int64_t megabytes) {
  const auto spec = ParseFabricSpec("dragonfly:h=2,link=100Gb/s");
  const auto built = BuildFabric(*spec);
  const Router router(built->fabric, {.policy = policy});
  TrafficWorkload traffic;
  traffic.ranks = 72;
  for (std::uint32_t host = 0; host < 72; ++host) {
    TrafficFlow flow;
    flow.source = RankId(host);
    flow.destination = RankId((host + 8) % 72);
    flow.bytes = Bytes(megabytes * 1'000'000);
    traffic.flows.push_back(flow);
  }
  const auto placement = PackedPlacement(built->fabric, 72);
  const auto report = RunFlowTraffic(router, traffic, *placement, {});
  EXPECT_TRUE(report.has_value());
  return static_cast<double>(megabytes) * 1e6 / 12.5e9 / report->end.seconds();
}

TEST(FlowTraffic, CarriesTheWorstCaseOfADragonflyAsTheLawsSay) {
  EXPECT_NEAR(GroupShift(RoutingPolicy::kMinimal, 100), 1.0 / 8, 1e-3);
  EXPECT_NEAR(GroupShift(RoutingPolicy::kValiant, 100), 9.0 / 16, 1e-2);
  for (const RoutingPolicy policy : {RoutingPolicy::kUgalL, RoutingPolicy::kUgalG,
                                     RoutingPolicy::kPar, RoutingPolicy::kDragonflyPlus}) {
    EXPECT_NEAR(GroupShift(policy, 100), 9.0 / 16, 1e-3) << ToString(policy);
  }
}

// Every link carries what its flows moved, however often they were divided anew.
TEST(FlowTraffic, CarriesEveryByteOfDividedFlowsOverHostsLinks) {
  const auto spec = ParseFabricSpec("dragonfly:h=2,link=100Gb/s");
  const auto built = BuildFabric(*spec);
  const Router router(built->fabric, {.policy = RoutingPolicy::kUgalG});
  TrafficWorkload traffic;
  traffic.ranks = 72;
  for (std::uint32_t host = 0; host < 8; ++host) {
    TrafficFlow flow;
    flow.source = RankId(host);
    flow.destination = RankId(host + 8);
    flow.bytes = Bytes(1'000'003 * (host + 1));
    flow.start = Time::Microseconds(10) * host;
    traffic.flows.push_back(flow);
  }
  const auto placement = PackedPlacement(built->fabric, 72);
  const auto report = RunFlowTraffic(router, traffic, *placement, {});
  ASSERT_TRUE(report.has_value());
  std::int64_t between_groups = 0;
  for (const LinkUse& use : report->links) {
    const Link& link = built->fabric.link(use.link);
    for (std::uint32_t host = 0; host < 8; ++host) {
      if (link.from != built->fabric.endpoints()[host]) continue;
      EXPECT_NEAR(static_cast<double>(use.wire_bytes), 1'000'003.0 * (host + 1), 1) << host;
    }
    const std::uint32_t from = built->fabric.device(link.from).group;
    const std::uint32_t to = built->fabric.device(link.to).group;
    if (from != to && from != Device::kNoGroup && to != Device::kNoGroup) {
      between_groups += use.wire_bytes;
    }
  }
  EXPECT_GT(between_groups, 1'000'003 * 36);      // some by detours …
  EXPECT_LT(between_groups, 2 * 1'000'003 * 36);  // … and some not
}

}  // namespace
}  // namespace trunkline
