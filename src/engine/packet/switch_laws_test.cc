#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/test_units.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/test_runs.h"
#include "engine/test_fabrics.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"

// What buffers, pauses and credits must do, in closed form.
namespace trunkline {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Gt;
using testing::Le;
using testing::Lt;

constexpr Bytes kFrame{4096 + 82};
constexpr Time kHeaderTime = Time::Picoseconds(82 * 80);
constexpr Time kShortCable = Time::Microseconds(1);

TrafficFlow Flow(std::uint32_t from, std::uint32_t to, std::int64_t packets,
                 std::uint8_t traffic_class = 0) {
  TrafficFlow flow;
  flow.source = RankId{from};
  flow.destination = RankId{to};
  flow.bytes = Bytes(4096) * packets;
  flow.traffic_class = traffic_class;
  return flow;
}

PacketReport Send(const Fabric& fabric, const SwitchModel& switches, std::vector<TrafficFlow> flows,
                  const PacketTransport& transport = {}) {
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  TrafficWorkload traffic;
  traffic.ranks = static_cast<std::uint32_t>(fabric.endpoints().size());
  traffic.flows = std::move(flows);
  const auto placement = PackedPlacement(fabric, traffic.ranks);
  TL_CHECK(placement.has_value(), "placement");
  auto report = RunPacketTraffic({router, switches, transport}, traffic, *placement, {});
  TL_CHECK(report.has_value(), "run");
  EXPECT_EQ(report->status, RunStatus::kFinished);
  return *std::move(report);
}

// Hosts 0 to 2 below one leaf and 3 to 5 below another, four times as wide a cable in between.
Fabric TwoLeaves(Time latency = kShortCable) {
  FabricBuilder builder;
  const auto add = [&](DeviceKind kind, std::uint32_t node, std::uint32_t local) {
    return builder.AddDevice({.kind = kind,
                              .tier = static_cast<std::uint8_t>(kind == DeviceKind::kSwitch),
                              .node = node,
                              .local = local,
                              .latency = {}});
  };
  const DeviceId leaves[] = {add(DeviceKind::kSwitch, Device::kNoNode, 0),
                             add(DeviceKind::kSwitch, Device::kNoNode, 1)};
  for (std::uint32_t i = 0; i < 6; ++i) {
    builder.AddCable(add(DeviceKind::kHost, i, 0), leaves[i / 3], k100Gb, latency,
                     LinkKind::kNetwork);
  }
  builder.AddCable(leaves[0], leaves[1], k100Gb * 4, latency, LinkKind::kNetwork);
  return std::move(builder).Build();
}

double Slowdown(const FlowRecord& flow) {
  return (flow.delivered - flow.posted).seconds() / flow.alone.seconds();
}

TEST(Switch, StoresAndForwardsWholeFrames) {
  const PacketReport report = Send(Crossbar(2, k100Gb, kShortCable), {}, {Flow(0, 1, 1)});
  EXPECT_EQ(report.flows[0].delivered, kFrameTime * 2 + kShortCable * 2);
}

TEST(Switch, CutsThroughOnceTheHeadersAreIn) {
  SwitchModel switches;
  switches.cut_through = true;
  const PacketReport report = Send(Crossbar(2, k100Gb, kShortCable), switches, {Flow(0, 1, 1)});
  EXPECT_EQ(report.flows[0].delivered, kHeaderTime + kFrameTime + kShortCable * 2);
}

// A packet finds its output idle and leaves at once; behind it wait one of its own class and, the
// last to come, one of the other. The first packet is charged to its class's turn, or the others
// would go the other way round.
TEST(Switch, ChargesAPacketThatFindsItsPortIdleToItsClass) {
  const auto waits_for = [](const SwitchModel& switches, std::uint8_t first) {
    std::vector<TrafficFlow> flows = {Flow(0, 3, 1, first), Flow(1, 3, 1, first),
                                      Flow(2, 3, 1, static_cast<std::uint8_t>(first ^ 1U))};
    flows[1].start = Time::Picoseconds(1);
    flows[2].start = Time::Picoseconds(2);
    const PacketReport report = Send(Crossbar(4, k100Gb, kShortCable), switches, std::move(flows));
    EXPECT_EQ(report.flows[0].delivered, kFrameTime * 2 + kShortCable * 2);
    const auto later = [&](std::uint32_t flow) {
      return report.flows[flow].delivered - report.flows[0].delivered;
    };
    EXPECT_EQ(std::max(later(1), later(2)), kFrameTime * 2);
    return std::pair(later(1), later(2));
  };
  const std::pair own_class_first(kFrameTime, kFrameTime * 2);
  const std::pair other_class_first(kFrameTime * 2, kFrameTime);
  SwitchModel switches;
  switches.classes = 3;
  EXPECT_EQ(waits_for(switches, 1), other_class_first);
  switches.weights = {2, 1};
  EXPECT_EQ(waits_for(switches, 0), own_class_first);
  switches.weights = {};
  switches.loss_control = LossControl::kCredits;
  // 66 units of 64 bytes are a packet's.
  switches.arbitration = VlArbitration{.high = {}, .low = {{0, 66}, {1, 66}}, .high_limit = 0};
  EXPECT_EQ(waits_for(switches, 0), other_class_first);
  switches.arbitration->low[0].weight = 132;
  EXPECT_EQ(waits_for(switches, 0), own_class_first);
}

// Credits for two packets: the third leaves when the first one's credit is back, after it has been
// sent, has been sent on, and a cable's latency each way.
TEST(Credits, BelowBandwidthTimesDelayGiveTheBufferARoundTrip) {
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.lane_buffer = Bytes(2 * 66 * 64);
  const PacketReport report = Send(Crossbar(2, k100Gb, kShortCable), switches, {Flow(0, 1, 100)});
  const Time loop = kFrameTime * 2 + kShortCable * 2;
  EXPECT_EQ(report.flows[0].delivered, loop * 49 + kFrameTime + kFrameTime * 2 + kShortCable * 2);
  EXPECT_EQ(report.counters.drops, 0);
}

// Two flows of different lanes share a link as 3 to 1 for as long as both last: when the first has
// sent its 900 packets, the other has sent 300.
TEST(Credits, LanesShareALinkByTheWeightsOfTheArbitrationTable) {
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.classes = 3;
  switches.arbitration = VlArbitration{.high = {}, .low = {{0, 198}, {1, 66}}, .high_limit = 0};
  switches.lane_of_class = {0, 0, 0, 1};  // classes 0 and 3 are used
  const PacketReport report =
      Send(Crossbar(3, k100Gb, kShortCable), switches, {Flow(0, 2, 900, 0), Flow(1, 2, 900, 3)});
  const double of_both = (kFrameTime * 1200).seconds();
  EXPECT_NEAR(report.flows[0].delivered.seconds() / of_both, 1, 0.02);
  EXPECT_NEAR(report.flows[1].delivered.seconds() / (kFrameTime * 1800).seconds(), 1, 0.02);
  // The same at a NIC that sends both.
  const PacketReport one =
      Send(Crossbar(3, k100Gb, kShortCable), switches, {Flow(0, 2, 900, 0), Flow(0, 1, 900, 3)});
  EXPECT_NEAR(one.flows[0].delivered.seconds() / of_both, 1, 0.02);
}

class Incast : public testing::TestWithParam<std::uint32_t> {};

// Each input is paused when it holds alpha times what is free, so that n of them leave
// pool / (1 + n alpha) free; then their headroom fills.
TEST_P(Incast, QueuesNoMoreThanThresholdsAndHeadroom) {
  const std::uint32_t senders = GetParam();
  const Fabric fabric = Crossbar(senders + 1, k100Gb, kShortCable);
  std::vector<TrafficFlow> flows;
  for (std::uint32_t i = 0; i < senders; ++i) flows.push_back(Flow(i, senders, 400));
  SwitchModel switches;
  switches.buffer = Bytes(3'000'000);
  const PacketReport report = Send(fabric, switches, flows);
  EXPECT_EQ(report.counters.drops, 0);
  EXPECT_THAT(report.counters.pauses, Gt(0));
  std::uint32_t most = 0;
  for (const PacketLinkUse& use : report.links) most = std::max(most, use.max_queue_bytes);
  const double n = senders;
  const double alpha = switches.pause.alpha;
  const auto pool =
      static_cast<double>(SharedPool(fabric, fabric.link(LinkId(0)).to, switches, kFrame));
  const double thresholds =
      pool * n * alpha / (1 + n * alpha) + n * static_cast<double>(switches.pause.reserved.count());
  const double headroom =
      n * static_cast<double>(PauseHeadroom(fabric, LinkId(0), switches, kFrame).count());
  EXPECT_THAT(most, AllOf(Gt(0.9 * thresholds), Le(thresholds + headroom)));
}

INSTANTIATE_TEST_SUITE_P(Senders, Incast, testing::Values(2, 3, 7, 12));

class Victim : public testing::TestWithParam<LossControl> {};

// Three hosts send to host 3; two of them by the wide cable, which host 2's flow to the idle host 4
// crosses too. Where it shares their class it stands in line with them: each third of host 3's
// 100 Gb/s brings it as much at most.
TEST_P(Victim, SuffersInTheClassOfTheCongestedFlowsAndNotInAnother) {
  const Fabric fabric = TwoLeaves();
  SwitchModel switches;
  switches.loss_control = GetParam();
  switches.classes = 3;
  switches.buffer = Bytes(1'000'000);
  const auto victim = [&](std::uint8_t traffic_class) {
    const PacketReport report = Send(
        fabric, switches,
        {Flow(0, 3, 3000), Flow(1, 3, 3000), Flow(5, 3, 3000), Flow(2, 4, 1000, traffic_class)});
    EXPECT_EQ(report.counters.drops, 0);
    return Slowdown(report.flows[3]);
  };
  EXPECT_THAT(victim(0), AllOf(Gt(2.0), Lt(3.5)));
  EXPECT_THAT(victim(1), AllOf(Ge(1.0), Lt(1.05)));
}

INSTANTIATE_TEST_SUITE_P(LossControl, Victim,
                         testing::Values(LossControl::kPause, LossControl::kCredits),
                         [](const auto& each) {
                           return each.param == LossControl::kPause ? "Pause" : "Credits";
                         });

// The same flows under InfiniBand's congestion control, on cables as in a machine hall: those to
// host 3 are told to slow down where they meet, so that the victim finds room, and have even
// shares, where credits alone give host 5, which shares its way in with nobody, as much as the two
// others together.
TEST(InfinibandCongestionControl, SparesTheVictimAndSharesTheCongestedLinkEvenly) {
  const Fabric fabric = TwoLeaves(Time::Nanoseconds(100));
  const std::vector<TrafficFlow> flows = {Flow(0, 3, 9000), Flow(1, 3, 9000), Flow(5, 3, 9000),
                                          Flow(2, 4, 9000)};
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  const PacketReport without = Send(fabric, switches, flows);
  EXPECT_GT(Slowdown(without.flows[3]), 2.0);
  EXPECT_LT(Slowdown(without.flows[2]), 0.8 * Slowdown(without.flows[0]));
  // By one mark for eleven packets and a step back every 10.24 us, a flow may have 36 Gb/s before
  // it is told more often than it recovers: ib-cc-ofed does not even out three.
  for (const auto& [preset, fair] : {std::pair("ib-cc-intel", true), {"ib-cc-ofed", false}}) {
    const auto control = MakeCongestionControl("ib-cc", preset, {}, k100Gb);
    ASSERT_TRUE(control.has_value());
    switches.marking = control->marking;
    PacketTransport transport;
    Adopt(*control, transport);
    const PacketReport report = Send(fabric, switches, flows, transport);
    EXPECT_EQ(report.counters.drops, 0) << preset;
    EXPECT_LT(Slowdown(report.flows[3]), 1.2) << preset;
    for (const std::size_t i : {0, 1, 2}) {
      EXPECT_LT(Slowdown(report.flows[i]), 4.2) << preset << ", flow " << i;
      EXPECT_GT(Slowdown(report.flows[i]), fair ? 2.8 : 1.0) << preset << ", flow " << i;
    }
  }
}

// Packet_Size of InfiniBand's switches: what is smaller is never marked.
TEST(Marking, SparesPacketsBelowTheSmallestSize) {
  for (const std::int64_t smallest : {0, 382, 383}) {  // 300 B of payload and 82 of headers
    SwitchModel switches;
    switches.marking = MarkingCurve{.low = Bytes(0), .high = Bytes(1), .smallest = Bytes(smallest)};
    std::vector<TrafficFlow> flows;
    for (std::uint32_t i = 0; i < 20; ++i) {
      flows.push_back(Flow(i % 2, 2, 1));
      flows.back().bytes = Bytes(300);
    }
    const PacketReport report = Send(Crossbar(3, k100Gb, kShortCable), switches, flows);
    EXPECT_EQ(report.counters.marks > 0, smallest <= 382) << smallest;
  }
}

TEST(Pause, IsBlamedOnTheOutputThatHoldsTheBytes) {
  const Fabric fabric = Crossbar(4, k100Gb, kShortCable);
  SwitchModel switches;
  switches.buffer = Bytes(600'000);
  const PacketReport report =
      Send(fabric, switches, {Flow(0, 3, 500), Flow(1, 3, 500), Flow(2, 0, 500)});
  ASSERT_EQ(report.pauses.size(), 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const PacketPause& pause = report.pauses[i];
    EXPECT_EQ(fabric.name(fabric.link(pause.link).from), "host-" + std::to_string(i));
    ASSERT_EQ(pause.causes.size(), 1);
    EXPECT_EQ(fabric.name(fabric.link(pause.causes[0].output).to), "host-3");
    EXPECT_EQ(pause.causes[0].share, 1);
    // Each gets half of the output, so it stands still for half of the time that this takes: less
    // what it sends before the first PAUSE, and more by what the last one holds when all is sent.
    EXPECT_THAT(pause.paused, AllOf(Gt(kFrameTime * 450), Lt(kFrameTime * 550)));
  }
}

// While a frame of 334 ns is in the way of the repetition, a pause of 40 quanta, 205 ns, expires.
TEST(Pause, ExpiresUnlessItIsRepeatedInTime) {
  const Fabric fabric = Crossbar(3, k100Gb, kShortCable);
  SwitchModel switches;
  switches.buffer = Bytes(900'000);
  switches.pause.headroom = Bytes(100'000);
  const std::vector<TrafficFlow> flows = {Flow(0, 2, 500), Flow(1, 2, 500), Flow(2, 0, 500),
                                          Flow(2, 1, 500)};
  const PacketReport standard = Send(fabric, switches, flows);
  EXPECT_EQ(standard.counters.pause_expiries, 0);
  EXPECT_EQ(standard.counters.pause_repeats, 0);  // 168 us are never needed
  switches.pause.quanta = 40;
  const PacketReport brief = Send(fabric, switches, flows);
  EXPECT_THAT(brief.counters.pause_expiries, Gt(0));
  EXPECT_THAT(brief.counters.pause_repeats, Gt(0));
}

}  // namespace
}  // namespace trunkline
