#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/test_units.h"
#include "engine/packet/test_runs.h"
#include "engine/test_fabrics.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;

constexpr Time kLongCable = Time::Microseconds(10);

TimedFault Fault(std::string target, TimedFault::Kind kind, Time at) {
  TimedFault fault;
  fault.target = std::move(target);
  fault.kind = kind;
  fault.at = at;
  return fault;
}

struct Options {
  LossControl control = LossControl::kPause;
  RoutingPolicy routing = RoutingPolicy::kEcmp;
  LossRecovery recovery = LossRecovery::kGoBackN;
  std::vector<TimedFault> faults = {};
  std::optional<Time> rerouting = {};
  std::uint32_t threads = 1;
  Time until = Time::Horizon();
};

// `packets` full packets from rank 0 to the last.
PacketReport Send(const Fabric& fabric, std::int64_t packets, const Options& options) {
  RouterOptions routing;
  routing.policy = options.routing;
  const Router router(fabric, routing);
  SwitchModel switches;
  switches.loss_control = options.control;
  PacketTransport transport;
  transport.ack_every = 1'000'000;
  transport.recovery = options.recovery;
  transport.retransmit_timeout = Time::Microseconds(200);
  const auto hosts = static_cast<std::uint32_t>(fabric.endpoints().size());
  TrafficWorkload traffic;
  traffic.ranks = hosts;
  traffic.flows.emplace_back();
  traffic.flows[0].destination = RankId{hosts - 1};
  traffic.flows[0].bytes = Bytes(4096) * packets;
  const auto placement = PackedPlacement(fabric, hosts);
  TL_CHECK(placement.has_value(), "placement");
  PacketOptions run;
  run.threads = options.threads;
  run.until = options.until;
  auto report = RunPacketTraffic({router, switches, transport, options.faults, options.rerouting},
                                 traffic, *placement, run);
  TL_CHECK(report.has_value(), "run");
  return *std::move(report);
}

std::int64_t BytesOn(const PacketReport& report, const Fabric& fabric, const std::string& from,
                     const std::string& to) {
  for (const PacketLinkUse& use : report.links) {
    const Link& link = fabric.link(use.link);
    if (fabric.name(link.from) == from && fabric.name(link.to) == to) return use.wire_bytes;
  }
  return 0;
}

// Every host is cabled to each of two leaves.
Fabric DualHomed(std::uint32_t hosts) {
  FabricBuilder builder;
  std::vector<DeviceId> leaves;
  for (std::uint32_t i = 0; i < 2; ++i) {
    leaves.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch,
                                        .tier = 1,
                                        .node = Device::kNoNode,
                                        .local = i,
                                        .latency = {}}));
  }
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const DeviceId host = builder.AddDevice(
        {.kind = DeviceKind::kHost, .tier = 0, .node = i, .local = 0, .latency = {}});
    for (const DeviceId leaf : leaves) {
      builder.AddCable(host, leaf, k100Gb, Time::Microseconds(1), LinkKind::kNetwork);
    }
  }
  return std::move(builder).Build();
}

// Forty frames leave at the full rate, the others take twice as long; the second cable is idle
// when the last one comes.
TEST(PacketFaults, ASlowerCableSlowsTheFramesThatBeginThereafter) {
  const Fabric fabric = Crossbar(2, k100Gb, kLongCable);
  Options options;
  options.faults = {Fault("host-0/leaf-0", TimedFault::Kind::kRate, kFrameTime * 40)};
  options.faults[0].fraction = 0.5;
  const PacketReport report = Send(fabric, 100, options);
  EXPECT_EQ(report.flows[0].delivered, kFrameTime * (40 + 60 * 2 + 1) + kLongCable * 2);
}

// The acknowledgement takes 20 us more than the last packet does.
TEST(PacketTraffic, IsDoneWhenAllIsDeliveredWhateverAcknowledgementsAreUnderWay) {
  const Fabric fabric = Crossbar(2, k100Gb, kLongCable);
  const Time delivered = kFrameTime * 11 + kLongCable * 2;
  Options options;
  options.until = delivered + Time::Microseconds(1);
  const PacketReport done = Send(fabric, 10, options);
  EXPECT_EQ(done.flows[0].delivered, delivered);
  EXPECT_EQ(done.flows[0].acknowledged, FlowRecord::kNot);
  EXPECT_EQ(done.status, RunStatus::kFinished);
  EXPECT_TRUE(done.stuck.empty());
  options.until = delivered - Time::Microseconds(1);
  const PacketReport cut = Send(fabric, 10, options);
  EXPECT_EQ(cut.status, RunStatus::kUnfinished);
  EXPECT_EQ(cut.stuck.size(), 1U);
}

// The cable is cut for a moment: those frames are lost that began before and whose last bit was not
// in, 10.33 us of frames of 334.24 ns.
TEST(PacketFaults, WhatIsOnACableThatGoesDownIsLostAndCounted) {
  const Fabric fabric = Crossbar(2, k100Gb, kLongCable);
  const Time down = Time::Nanoseconds(40'000);
  Options options;
  options.recovery = LossRecovery::kSelectiveRepeat;
  options.faults = {Fault("host-1/leaf-0", TimedFault::Kind::kDown, down)};
  options.faults[0].until = down + Time::Picoseconds(1);
  const PacketReport report = Send(fabric, 500, options);
  std::uint64_t lost = 0;
  for (std::int64_t i = 0; i < 500; ++i) {
    const Time begin = kFrameTime + kLongCable + kFrameTime * i;  // at the switch
    if (begin < down && begin + kFrameTime + kLongCable > down) ++lost;
  }
  EXPECT_EQ(lost, 31);
  EXPECT_EQ(report.counters.fault_drops, lost);
  EXPECT_EQ(report.counters.retransmissions, lost);
  EXPECT_EQ(report.status, RunStatus::kFinished);
  EXPECT_EQ(report.counters.delivered_bytes, 500 * 4096);
}

TEST(PacketFaults, AQueuePairWithoutAWayFailsAndIsNamed) {
  for (const LossControl control : {LossControl::kPause, LossControl::kCredits}) {
    const Fabric fabric = Crossbar(3, k100Gb, kLongCable);
    Options options;
    options.control = control;
    options.faults = {Fault("host-2/leaf-0", TimedFault::Kind::kDown, Time::Microseconds(30))};
    options.rerouting = Time::Microseconds(5);
    const PacketReport report = Send(fabric, 1000, options);
    EXPECT_EQ(report.status, RunStatus::kUnfinished);
    ASSERT_EQ(report.stuck.size(), 1);
    EXPECT_THAT(report.stuck[0],
                AllOf(HasSubstr("from rank 0 to rank 2"), HasSubstr("8 timeouts in a row")));
    EXPECT_THAT(report.counters.fault_drops, Gt(0));
    EXPECT_EQ(report.counters.drops, report.counters.fault_drops);
  }
}

// Two hosts of different leaves below two spines: the flow takes one of them, then the other.
TEST(PacketFaults, RoutingMovesToWhatIsLeftAndBack) {
  const auto spec = ParseFabricSpec("fat-tree:children=[2,2],parents=[1,2],link=100Gb/s");
  ASSERT_TRUE(spec.has_value());
  const auto built = BuildFabric(*spec);
  ASSERT_TRUE(built.has_value());
  const Fabric& fabric = built->fabric;
  for (const RoutingPolicy routing : {RoutingPolicy::kEcmp, RoutingPolicy::kSpray}) {
    Options options;
    options.routing = routing;
    options.recovery = LossRecovery::kSelectiveRepeat;
    const PacketReport before = Send(fabric, 3000, options);
    const std::int64_t by_0 = BytesOn(before, fabric, "leaf-0", "spine-0");
    const std::string used = by_0 > 0 ? "spine-0" : "spine-1";
    const std::string other = by_0 > 0 ? "spine-1" : "spine-0";
    options.faults = {Fault(used + "/leaf-1", TimedFault::Kind::kDown, Time::Microseconds(100))};
    options.rerouting = Time::Microseconds(20);
    const PacketReport moved = Send(fabric, 3000, options);
    EXPECT_EQ(moved.status, RunStatus::kFinished);
    // At least what had not left by then, 3000 frames of 334 ns less 120 us.
    EXPECT_THAT(BytesOn(moved, fabric, "leaf-0", other), Gt(2640 * 4178));
    EXPECT_THAT(moved.counters.fault_drops, AllOf(Gt(20), Lt(80)));
    EXPECT_EQ(moved.counters.delivered_bytes, 3000 * 4096);

    options.faults[0].until = Time::Microseconds(500);
    const PacketReport returned = Send(fabric, 3000, options);
    EXPECT_EQ(returned.status, RunStatus::kFinished);
    EXPECT_THAT(BytesOn(returned, fabric, "leaf-0", other),
                Lt(BytesOn(moved, fabric, "leaf-0", other) * 3 / 4));
    options.threads = 3;
    EXPECT_EQ(Send(fabric, 3000, options).flows[0].delivered, returned.flows[0].delivered);
  }
}

TEST(PacketFaults, ANicWithTwoPortsGoesOnByTheOther) {
  const Fabric fabric = DualHomed(2);
  for (const RoutingPolicy routing : {RoutingPolicy::kEcmp, RoutingPolicy::kSpray}) {
    Options options;
    options.routing = routing;
    options.recovery = LossRecovery::kSelectiveRepeat;
    const PacketReport before = Send(fabric, 1000, options);
    const std::string used =
        BytesOn(before, fabric, "host-0", "leaf-0") > 4178 ? "leaf-0" : "leaf-1";
    const std::string other = used == "leaf-0" ? "leaf-1" : "leaf-0";
    EXPECT_EQ(BytesOn(before, fabric, "host-0", other), 0);
    options.faults = {Fault("host-0/" + used, TimedFault::Kind::kDown, Time::Microseconds(50))};
    options.rerouting = Time::Microseconds(10);
    const PacketReport report = Send(fabric, 1000, options);
    EXPECT_EQ(report.status, RunStatus::kFinished);
    EXPECT_EQ(report.counters.delivered_bytes, 1000 * 4096);
    EXPECT_THAT(BytesOn(report, fabric, "host-0", other), Gt(800 * 4178));
    // The NIC keeps what it has not sent: only what was on the cable is lost.
    EXPECT_THAT(report.counters.fault_drops, AllOf(Gt(0), Lt(8)));
  }
}

// 10,000 frames and what is sent again: five standard deviations around the mean.
TEST(PacketFaults, FramesAreSpoiltAsOftenAsSaid) {
  const Fabric fabric = Crossbar(2, k100Gb, Time::Nanoseconds(100));
  Options options;
  options.recovery = LossRecovery::kSelectiveRepeat;
  const double bits = 1e-6;
  const double of_bits = 1 - std::pow(1 - bits, 8 * 4178);
  for (const bool by_bits : {false, true}) {
    options.faults = {Fault("host-0/leaf-0",
                            by_bits ? TimedFault::Kind::kBitErrors : TimedFault::Kind::kFrameLoss,
                            Time())};
    options.faults[0].chance = by_bits ? bits : 0.01;
    const PacketReport report = Send(fabric, 10'000, options);
    const double chance = by_bits ? of_bits : 0.01;
    const auto sent = static_cast<double>(10'000 + report.counters.retransmissions);
    EXPECT_NEAR(static_cast<double>(report.counters.data_drops), sent * chance,
                5 * std::sqrt(sent * chance));
    EXPECT_EQ(report.counters.fault_drops, 0);
    EXPECT_EQ(report.counters.delivered_bytes, 10'000 * 4096);
  }
}

TEST(PacketFaults, NameNoCableOfTheFabricAreRefused) {
  const Fabric fabric = Crossbar(2, k100Gb, kLongCable);
  const Router router(fabric, {});
  const auto placement = PackedPlacement(fabric, 2);
  TrafficWorkload traffic;
  traffic.ranks = 2;
  const std::vector<TimedFault> faults = {Fault("leaf-0/spine-7", TimedFault::Kind::kDown, Time())};
  const SwitchModel switches;
  const PacketTransport transport;
  const auto report =
      RunPacketTraffic({router, switches, transport, faults}, traffic, *placement, {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error()[0].code, "TL1406");
}

// The second flow begins when the first has arrived, which it never does.
TEST(PacketFaults, AFlowThatNeverBeginsSaysWhichOneItWaitsFor) {
  const Fabric fabric = Crossbar(2, k100Gb, kLongCable);
  RouterOptions routing;
  routing.policy = RoutingPolicy::kEcmp;
  const Router router(fabric, routing);
  SwitchModel switches;
  switches.loss_control = LossControl::kLossy;
  PacketTransport transport;
  transport.retransmit_timeout = Time::Microseconds(200);
  transport.retry_limit = 1;
  TrafficWorkload traffic;
  traffic.ranks = 2;
  traffic.flows.resize(2);
  traffic.triggers.resize(1);
  traffic.flows[0].destination = RankId(1);
  traffic.flows[0].bytes = Bytes(1'000'000);
  traffic.flows[0].when_received = 0;
  traffic.flows[1].source = RankId(1);
  traffic.flows[1].bytes = Bytes(1'000);
  traffic.flows[1].trigger = 0;
  traffic.triggers[0].flows = {1};
  const std::vector<TimedFault> faults = {
      Fault("host-1/leaf-0", TimedFault::Kind::kDown, Time::Microseconds(30))};
  const auto placement = PackedPlacement(fabric, 2);
  const auto report = RunPacketTraffic(
      {.router = router, .switches = switches, .transport = transport, .faults = faults}, traffic,
      *placement, {});
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->status, RunStatus::kUnfinished);
  EXPECT_THAT(report->stuck,
              testing::ElementsAre(AllOf(HasSubstr("flow 0"), HasSubstr("-> host-1 is down")),
                                   AllOf(HasSubstr("flow 1"), HasSubstr("it waits for flow 0"))));
}

}  // namespace
}  // namespace trunkline
