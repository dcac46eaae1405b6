#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/test_units.h"
#include "engine/test_fabrics.h"
#include "trunkline/engine/traffic.h"

namespace trunkline {
namespace {

using ::testing::SizeIs;

constexpr Time kCable = Time::Microseconds(1);

TrafficFlow FlowOf(std::uint32_t source, std::uint32_t destination, Time start = {}) {
  TrafficFlow flow;
  flow.source = RankId(source);
  flow.destination = RankId(destination);
  flow.bytes = kMegabyte;
  flow.start = start;
  return flow;
}

TrafficWorkload WorkloadOf(std::vector<TrafficFlow> flows, std::uint32_t ranks) {
  TrafficWorkload traffic;
  traffic.flows = std::move(flows);
  traffic.ranks = ranks;
  return traffic;
}

FlowTrafficReport RunOnCrossbar(const TrafficWorkload& traffic, FlowTrafficOptions options = {}) {
  const Fabric fabric = Crossbar(traffic.ranks, k100Gb, kCable);
  const Router router(fabric, {});
  const auto placement = PackedPlacement(fabric, traffic.ranks);
  auto report = RunFlowTraffic(router, traffic, *placement, options);
  EXPECT_TRUE(report.has_value()) << Format(report.error().front());
  return report ? *std::move(report) : FlowTrafficReport();
}

TEST(FlowTraffic, ALoneFlowTakesItsBytesAndItsLatency) {
  const auto report = RunOnCrossbar(WorkloadOf({FlowOf(0, 1, Time::Microseconds(5))}, 2));
  EXPECT_EQ(report.status, RunStatus::kFinished);
  const FlowRecord& flow = report.flows.at(0);
  EXPECT_EQ(flow.posted, Time::Microseconds(5));
  EXPECT_EQ(flow.delivered, Time::Microseconds(5 + 80 + 2));
  EXPECT_EQ(flow.acknowledged, Time::Microseconds(5 + 80 + 4));
  EXPECT_EQ(flow.alone, Time::Microseconds(82));
  EXPECT_EQ(report.end, flow.delivered);
  ASSERT_THAT(report.links, SizeIs(2));
  for (const LinkUse& link : report.links) EXPECT_EQ(link.wire_bytes, 1'000'000);
}

TEST(FlowTraffic, AnIncastSharesTheLastLinkEvenly) {
  std::vector<TrafficFlow> flows;
  for (std::uint32_t i = 1; i <= 8; ++i) flows.push_back(FlowOf(i, 0));
  const auto report = RunOnCrossbar(WorkloadOf(flows, 9));
  for (const FlowRecord& flow : report.flows) {
    EXPECT_EQ(flow.delivered, Time::Microseconds(8 * 80 + 2));
    EXPECT_EQ(flow.alone, Time::Microseconds(82));
  }
}

// A is alone for 40 us and moves half of its bytes; then both have half a link: A ends 80 us later,
// B has moved half by then and ends after 40 us more.
TEST(FlowTraffic, RatesChangeWhenFlowsComeAndGo) {
  const auto report =
      RunOnCrossbar(WorkloadOf({FlowOf(1, 0), FlowOf(2, 0, Time::Microseconds(40))}, 3));
  EXPECT_EQ(report.flows[0].delivered, Time::Microseconds(122));
  EXPECT_EQ(report.flows[1].delivered, Time::Microseconds(162));
}

// By leaf, the spines that it has a cable to; each has two hosts.
Fabric LeavesUnder(const std::vector<std::vector<std::uint32_t>>& spines_of_leaf) {
  FabricBuilder builder;
  std::vector<DeviceId> spines;
  for (std::uint32_t s = 0; s < 4; ++s) {
    spines.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2, .local = s}));
  }
  for (std::uint32_t l = 0; l < spines_of_leaf.size(); ++l) {
    const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = l});
    for (std::uint32_t h = 0; h < 2; ++h) {
      const DeviceId host = builder.AddDevice({.kind = DeviceKind::kHost, .node = 2 * l + h});
      builder.AddCable(host, leaf, k100Gb * 4, kCable, LinkKind::kNetwork);
    }
    std::vector<LinkId> up;
    std::vector<LinkId> down;
    for (const std::uint32_t s : spines_of_leaf[l]) {
      up.push_back(builder.AddCable(leaf, spines[s], k100Gb, kCable, LinkKind::kNetwork));
      down.push_back(LinkId(Index(up.back()) ^ 1U));
    }
    builder.AddTrunk(up);
    builder.AddTrunk(down);
  }
  return std::move(builder).Build();
}

FlowTrafficReport RunAdaptively(const Fabric& fabric, std::vector<TrafficFlow> flows) {
  const Router router(fabric, {.policy = RoutingPolicy::kAdaptive});
  const auto ranks = static_cast<std::uint32_t>(fabric.endpoints().size());
  auto report = RunFlowTraffic(router, WorkloadOf(std::move(flows), ranks),
                               *PackedPlacement(fabric, ranks), FlowTrafficOptions());
  EXPECT_TRUE(report.has_value()) << Format(report.error().front());
  return report ? *std::move(report) : FlowTrafficReport();
}

// By the far end of what leads up from leaf 0.
std::map<std::string, std::int64_t> CarriedUp(const Fabric& fabric,
                                              const FlowTrafficReport& report) {
  std::map<std::string, std::int64_t> carried;
  for (const LinkUse& use : report.links) {
    const Link& link = fabric.link(use.link);
    if (fabric.name(link.from) == "leaf-0") carried[fabric.name(link.to)] = use.wire_bytes;
  }
  return carried;
}

// From leaf 0 to leaf 1 spine 2 leads alone: two flows have half a cable each. A third, to leaf 2,
// has the cable to spine 1 to itself.
TEST(FlowTraffic, AdaptiveFlowsShareTheCablesThatLeadToThem) {
  const Fabric fabric = LeavesUnder({{1, 2}, {0, 2}, {0, 1, 2}});
  const auto report = RunAdaptively(fabric, {FlowOf(0, 2), FlowOf(1, 3), FlowOf(0, 4)});
  ASSERT_THAT(report.flows, SizeIs(3));
  EXPECT_EQ(report.flows[0].delivered, Time::Microseconds(160 + 4));
  EXPECT_EQ(report.flows[1].delivered, Time::Microseconds(160 + 4));
  EXPECT_EQ(report.flows[2].delivered, Time::Microseconds(80 + 4));
  auto carried = CarriedUp(fabric, report);
  EXPECT_EQ(carried["spine-1"], 1'000'000);
  EXPECT_EQ(carried["spine-2"], 2'000'000);
}

// Of leaf 0's four cables up three lead to leaves 1 and 2, one of them to both. Four flows have
// three quarters of a cable each, whatever the fourth cable could carry.
TEST(FlowTraffic, AdaptiveFlowsShareTheUnionOfPartsThatOverlap) {
  const Fabric fabric = LeavesUnder({{0, 1, 2, 3}, {0, 1}, {1, 2}});
  const auto report =
      RunAdaptively(fabric, {FlowOf(0, 4), FlowOf(1, 5), FlowOf(0, 2), FlowOf(1, 3)});
  ASSERT_THAT(report.flows, SizeIs(4));
  for (const FlowRecord& flow : report.flows) {
    EXPECT_NEAR(flow.delivered.seconds(), 1e-6 * (80.0 * 4 / 3 + 4), 1e-11);
  }
  auto carried = CarriedUp(fabric, report);
  for (const char* spine : {"spine-0", "spine-1", "spine-2"}) {
    EXPECT_NEAR(static_cast<double>(carried[spine]), 4e6 / 3, 100) << spine;
  }
  EXPECT_EQ(carried["spine-3"], 0);
}

TEST(FlowTraffic, TriggersStartTheNextFlow) {
  TrafficWorkload traffic = WorkloadOf({FlowOf(0, 1), FlowOf(1, 2), FlowOf(2, 3)}, 4);
  traffic.triggers.resize(2);
  traffic.flows[0].when_received = 0;
  traffic.flows[1].trigger = 0;
  traffic.flows[1].start = Time::Microseconds(3);  // after the trigger
  traffic.flows[1].when_sent = 1;
  traffic.flows[2].trigger = 1;
  traffic.triggers[0].flows = {1};
  traffic.triggers[1].flows = {2};
  const auto report = RunOnCrossbar(traffic);
  EXPECT_EQ(report.flows[1].posted, Time::Microseconds(82 + 3));
  EXPECT_EQ(report.flows[2].posted, Time::Microseconds(85 + 84));
  EXPECT_EQ(report.end, Time::Microseconds(169 + 82));
}

TEST(FlowTraffic, ABarrierWaitsForItsCountAndMultishotsTakeTurns) {
  TrafficWorkload traffic = WorkloadOf(
      {FlowOf(0, 1), FlowOf(2, 3), FlowOf(4, 5), FlowOf(6, 7), FlowOf(8, 9), FlowOf(10, 11)}, 12);
  traffic.flows[1].start = Time::Microseconds(10);
  traffic.triggers.resize(2);
  traffic.triggers[0] = {TrafficTrigger::Kind::kBarrier, 2, {3}};
  traffic.triggers[1] = {TrafficTrigger::Kind::kMultiShot, 1, {4, 5}};
  for (const std::uint32_t i : {0U, 1U}) traffic.flows[i].when_received = 0;
  for (const std::uint32_t i : {0U, 1U}) traffic.flows[i].when_sent = 1;
  traffic.flows[3].trigger = 0;
  traffic.flows[4].trigger = traffic.flows[5].trigger = 1;
  const auto report = RunOnCrossbar(traffic);
  EXPECT_EQ(report.flows[3].posted, Time::Microseconds(92));
  EXPECT_EQ(report.flows[4].posted, Time::Microseconds(84));
  EXPECT_EQ(report.flows[5].posted, Time::Microseconds(94));
}

TEST(FlowTraffic, IsCutShortWhereItIsTold) {
  const auto report =
      RunOnCrossbar(WorkloadOf({FlowOf(0, 1), FlowOf(0, 1, Time::Microseconds(300))}, 2),
                    {.until = Time::Microseconds(200)});
  EXPECT_EQ(report.status, RunStatus::kUnfinished);
  EXPECT_EQ(report.end, Time::Microseconds(200));
  EXPECT_EQ(report.flows[0].delivered, Time::Microseconds(82));
  EXPECT_EQ(report.flows[1].posted, FlowRecord::kNot);
}

TEST(FlowTraffic, StopsWhenAsked) {
  std::vector<TrafficFlow> flows(2000, FlowOf(0, 1));
  StopToken stop;
  stop.RequestStop();
  EXPECT_EQ(RunOnCrossbar(WorkloadOf(flows, 2), {.stop = &stop}).status, RunStatus::kInterrupted);
}

TEST(FlowTraffic, RefusesTimesBeyondTheHorizonAndRanksWithoutAPlace) {
  const Fabric fabric = Crossbar(2, Rate::BitsPerSecond(1), kCable);
  const Router router(fabric, {});
  const auto placement = PackedPlacement(fabric, 2);
  TrafficWorkload traffic = WorkloadOf({FlowOf(0, 1)}, 2);
  traffic.flows[0].bytes = Bytes(std::int64_t{1} << 40);
  const auto endless = RunFlowTraffic(router, traffic, *placement, {});
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(endless.error().front().code, "TL1602");
  traffic.ranks = 3;
  const auto homeless = RunFlowTraffic(router, traffic, *placement, {});
  ASSERT_FALSE(homeless.has_value());
  EXPECT_EQ(homeless.error().front().code, "TL1600");
}

}  // namespace
}  // namespace trunkline
