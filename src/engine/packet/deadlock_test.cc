#include "engine/packet/deadlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/packet/plant.h"
#include "engine/test_graphs.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Four switches in a ring, a host at each: four flows of which each crosses two links of the ring.
Fabric Ring() {
  FabricBuilder builder;
  const Rate rate = Rate::GigabitsPerSecond(100);
  const Time latency = Time::Nanoseconds(500);
  std::array<DeviceId, 4> switches;
  for (std::uint32_t i = 0; i < 4; ++i) {
    switches[i] = builder.AddDevice({.kind = DeviceKind::kSwitch,
                                     .tier = 1,
                                     .node = Device::kNoNode,
                                     .local = i,
                                     .latency = {}});
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    const DeviceId host = builder.AddDevice(
        {.kind = DeviceKind::kHost, .tier = 0, .node = i, .local = 0, .latency = {}});
    builder.AddCable(host, switches[i], rate, latency, LinkKind::kNetwork);
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    builder.AddCable(switches[i], switches[(i + 1) % 4], rate, latency, LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

// The switch that the packets from host i to the one across the ring pass in between.
std::uint32_t Via(const Fabric& fabric, const Router& router, std::uint32_t i) {
  const auto path = router.FindPath(fabric.endpoints()[i], fabric.endpoints()[(i + 2) % 4], i);
  TL_CHECK(path.has_value() && path->size() == 4, "path");
  return fabric.device(fabric.link((*path)[1]).to).local;
}

// The first seed of ECMP by which the four flows pass these switches; 4 stands for any.
Router RouterVia(const Fabric& fabric, const std::array<std::uint32_t, 4>& via) {
  for (std::uint64_t seed = 0;; ++seed) {
    Router router(fabric, {.policy = RoutingPolicy::kEcmp, .seed = seed});
    bool fits = true;
    for (std::uint32_t i = 0; i < 4; ++i) fits &= via[i] == 4 || Via(fabric, router, i) == via[i];
    if (fits) return router;
  }
}

constexpr std::array<std::uint32_t, 4> kClockwise = {1, 2, 3, 0};
// Switch 0 is the root, 1 and 3 are below it and 2 below them: no path turns up again, so those
// between 1 and 3 lead by the root.
constexpr std::array<std::uint32_t, 4> kUpDown = {4, 0, 4, 0};

constexpr Bytes kBytes{4'000'000};

SwitchModel SmallSwitches(LossControl control) {
  SwitchModel switches;
  switches.loss_control = control;
  switches.buffer = Bytes(400'000);
  switches.lane_buffer = Bytes(40'000);
  return switches;
}

PacketReport Cross(const Fabric& fabric, const Router& router, LossControl control,
                   std::uint32_t threads = 1, std::span<const TimedFault> faults = {}) {
  const SwitchModel switches = SmallSwitches(control);
  TrafficWorkload traffic;
  traffic.ranks = 4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    TrafficFlow flow;
    flow.source = RankId{i};
    flow.destination = RankId{(i + 2) % 4};
    flow.bytes = kBytes;
    traffic.flows.push_back(flow);
  }
  const auto placement = PackedPlacement(fabric, 4);
  TL_CHECK(placement.has_value(), "placement");
  PacketOptions options;
  options.threads = threads;
  const PacketTransport transport;
  auto report =
      RunPacketTraffic({router, switches, transport, faults}, traffic, *placement, options);
  TL_CHECK(report.has_value(), "run");
  return *std::move(report);
}

class RingOfSwitches : public testing::TestWithParam<LossControl> {};

TEST_P(RingOfSwitches, DeadlocksWhenAllFlowsTurnTheSameWay) {
  const Fabric fabric = Ring();
  const Router router = RouterVia(fabric, kClockwise);
  const PacketReport report = Cross(fabric, router, GetParam());
  EXPECT_EQ(report.status, RunStatus::kDeadlocked);
  ASSERT_EQ(report.stuck.size(), 1);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_THAT(report.stuck[0], HasSubstr("leaf-" + std::to_string(i) + "/leaf-" +
                                           std::to_string((i + 1) % 4) + " class 0 -> "));
  }
  EXPECT_LT(report.end, Time::Microseconds(2'000));
}

TEST_P(RingOfSwitches, DoesNotUnderUpDownRouting) {
  const Fabric fabric = Ring();
  const Router router = RouterVia(fabric, kUpDown);
  const PacketReport report = Cross(fabric, router, GetParam());
  EXPECT_EQ(report.status, RunStatus::kFinished);
  EXPECT_THAT(report.stuck, IsEmpty());
  EXPECT_EQ(report.counters.delivered_bytes, 4 * 4'000'000);
  EXPECT_EQ(report.counters.drops, 0);
}

TEST_P(RingOfSwitches, DeadlocksAtTheSameTimeInAnyNumberOfShards) {
  const Fabric fabric = Ring();
  const Router router = RouterVia(fabric, kClockwise);
  const PacketReport alone = Cross(fabric, router, GetParam());
  const PacketReport together = Cross(fabric, router, GetParam(), 4);
  EXPECT_EQ(together.status, RunStatus::kDeadlocked);
  EXPECT_EQ(together.end, alone.end);
  EXPECT_EQ(together.stuck, alone.stuck);
  EXPECT_EQ(together.counters.delivered_bytes, alone.counters.delivered_bytes);
}

TEST_P(RingOfSwitches, DeadlocksTheTasksThatSend) {
  TableGraph graph;
  const auto program = graph.AddProgram({{.kind = TaskKind::kSend, .role = 1, .bytes = kBytes},
                                         {.kind = TaskKind::kReceive, .stream = 1, .role = 2}});
  for (std::uint32_t i = 0; i < 4; ++i) {
    graph.AddRank(program);
    graph.Connect(RankId{i}, 1, RankId{(i + 2) % 4}, 2);
  }
  const Fabric fabric = Ring();
  const Router router = RouterVia(fabric, kClockwise);
  const SwitchModel switches = SmallSwitches(GetParam());
  const PacketTransport transport;
  const TransportModel model = IdealTransport();
  const auto placement = PackedPlacement(fabric, 4);
  const auto run = RunPacket({router, model, graph, *placement}, {router, switches, transport}, {});
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->timeline.status, RunStatus::kDeadlocked);
  EXPECT_THAT(run->packets.stuck, testing::ElementsAre(HasSubstr("leaf-0/leaf-1 class 0 -> ")));
  EXPECT_FALSE(run->timeline.blocked.empty());
}

// A cable of the cycle that goes down loses what waits for it: the others move on, so that a run is
// not over before.
TEST_P(RingOfSwitches, IsNotGivenUpBeforeACableThatGoesDownFreesIt) {
  const Fabric fabric = Ring();
  const Router router = RouterVia(fabric, kClockwise);
  const std::int64_t stuck = Cross(fabric, router, GetParam()).counters.delivered_bytes;
  const TimedFault fault{.target = "leaf-0/leaf-1",
                         .kind = TimedFault::Kind::kDown,
                         .at = Time::Microseconds(5'000),
                         .until = Time::Microseconds(5'100)};
  const PacketReport report = Cross(fabric, router, GetParam(), 1, std::span(&fault, 1));
  EXPECT_GT(report.end, Time::Microseconds(5'000));
  EXPECT_GT(report.counters.delivered_bytes, stuck);
  EXPECT_GT(report.counters.fault_drops, 0U);
}

INSTANTIATE_TEST_SUITE_P(LossControl, RingOfSwitches,
                         testing::Values(LossControl::kPause, LossControl::kCredits),
                         [](const auto& each) {
                           return each.param == LossControl::kPause ? "Pause" : "Credits";
                         });

// Inputs 0 and 1 wait for each other; what input 2 waits for may leave.
TEST(FindDeadlock, PassesOverWhatMayYetMove) {
  Plant plant;
  plant.switches_model.classes = 1;
  plant.ports.resize(4);
  plant.queues.resize(4);
  plant.ingress.resize(4);
  for (const std::size_t input : {0U, 1U, 2U}) {
    plant.ports[input].paused = 1;
    plant.ingress[input].paused = 1;
  }
  EXPECT_THAT(FindDeadlock(plant, {{0, 1}, {1, 0}, {2, 3}}), testing::ElementsAre(0, 1));
  EXPECT_THAT(FindDeadlock(plant, {{0, 1}, {1, 0}, {1, QueueWait::kNothing}}), IsEmpty());
  EXPECT_THAT(FindDeadlock(plant, {{0, 1}, {1, 2}, {2, 3}}), IsEmpty());
  plant.ingress[1].paused = 0;  // its RESUME is on the way
  EXPECT_THAT(FindDeadlock(plant, {{0, 1}, {1, 0}}), IsEmpty());
}

// Every host of a ring of four to the one across it, with buffers of ten packets: the four channels
// of a direction fill and wait for each other, unless packets have an escape.
PacketReport CrossAdaptively(bool escape, std::uint32_t threads) {
  const auto spec = ParseFabricSpec("torus:sizes=[4],ends=4,link=100Gb/s");
  const auto built = BuildFabric(*spec);
  RouterOptions options;
  options.policy = RoutingPolicy::kAdaptive;
  options.parameters.virtual_channels = escape;
  const Router router(built->fabric, options);
  const SwitchModel switches = SmallSwitches(LossControl::kCredits);
  PacketTransport transport;
  transport.recovery = LossRecovery::kSelectiveRepeat;
  TrafficWorkload traffic;
  traffic.ranks = 16;
  for (std::uint32_t host = 0; host < 16; ++host) {
    TrafficFlow flow;
    flow.source = RankId(host);
    flow.destination = RankId((host + 8) % 16);
    flow.bytes = kBytes;
    flow.raw = true;
    traffic.flows.push_back(flow);
  }
  const auto placement = PackedPlacement(built->fabric, 16);
  PacketOptions run;
  run.threads = threads;
  auto report = RunPacketTraffic({router, switches, transport}, traffic, *placement, run);
  TL_CHECK(report.has_value(), Format(report.error().front()));
  return *std::move(report);
}

TEST(Deadlock, IsEscapedByAdaptiveRoutingWithVirtualChannels) {
  const PacketReport stuck = CrossAdaptively(false, 1);
  EXPECT_EQ(stuck.status, RunStatus::kDeadlocked);
  const PacketReport escaped = CrossAdaptively(true, 1);
  ASSERT_EQ(escaped.status, RunStatus::kFinished);
  // 16 flows of two links each share the eight links of the ring: four times a flow's own time.
  const double alone = static_cast<double>(kBytes.count()) / 12.5e9;
  EXPECT_GT(escaped.end.seconds(), 4 * alone);
  EXPECT_LT(escaped.end.seconds(), 6 * alone);
  const PacketReport sharded = CrossAdaptively(true, 4);
  EXPECT_EQ(sharded.end, escaped.end);
  EXPECT_EQ(sharded.counters.hops.data, escaped.counters.hops.data);
}

}  // namespace
}  // namespace trunkline
