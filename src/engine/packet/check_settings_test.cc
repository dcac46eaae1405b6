#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// Cables of 50 ns, switches of 400 ns, links of 100 Gb/s: 12.5 bytes a nanosecond.
BuiltFabric FatTree() {
  const auto spec = ParseFabricSpec("fat-tree:k=4,link=100Gb/s");
  TL_CHECK(spec.has_value(), "spec");
  auto built = BuildFabric(*spec);
  TL_CHECK(built.has_value(), "fabric");
  return std::move(*built);
}

struct Settings {
  RoutingPolicy routing = RoutingPolicy::kEcmp;
  SwitchModel switches;
  PacketTransport transport;  // packets of 4,096 + 82 bytes
  RoutingParameters parameters = {};
};

std::string Problems(const Settings& settings) {
  const BuiltFabric built = FatTree();
  std::string out;
  for (const Diagnostic& problem :
       CheckPacketSettings(built.fabric, settings.routing, settings.switches, settings.transport,
                           false, settings.parameters)) {
    out += Format(problem);
  }
  return out;
}

Settings Credits(std::int64_t bytes) {
  Settings settings;
  settings.switches.loss_control = LossControl::kCredits;
  settings.switches.lane_buffer = Bytes(bytes);
  return settings;
}

Settings Lossy() {
  Settings settings;
  settings.switches.loss_control = LossControl::kLossy;
  return settings;
}

TEST(CheckPacketSettings, TakesTheDefaults) {
  EXPECT_THAT(Problems({}), IsEmpty());
  EXPECT_THAT(Problems(Credits(0)), IsEmpty());
  EXPECT_THAT(Problems(Lossy()), IsEmpty());
}

// 2 x 450 ns x 12.5 B/ns, three packets of 4,178 B, a PAUSE of 84 B.
TEST(CheckPacketSettings, NamesTheHeadroomThatPfcNeeds) {
  Settings settings;
  settings.switches.pause.headroom = Bytes(23'867);
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("error: PFC with 23867 B of headroom"),
                                        HasSubstr("[TL1802]"), HasSubstr("at least 23868 B")));
  settings.switches.pause.headroom = Bytes(23'868);
  EXPECT_THAT(Problems(settings), IsEmpty());
}

// Half of 133 quanta of 64 B is less than a packet of 4,178 B and a PAUSE of 84 B, half of 134 not.
TEST(CheckPacketSettings, WarnsOfPausesThatRunOut) {
  Settings settings;
  settings.switches.pause.quanta = 133;
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("warning: "), HasSubstr("[TL1825]"),
                                        HasSubstr("at least 134 quanta")));
  settings.switches.pause.quanta = 134;
  EXPECT_THAT(Problems(settings), IsEmpty());
}

TEST(CheckPacketSettings, RefusesABufferThatReservationsFill) {
  Settings settings;
  // 4 ports x 2 classes x (4,096 + 23,868) B.
  settings.switches.buffer = Bytes(223'712);
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1803]"));
  settings.switches.buffer = Bytes(10'000'000);
  EXPECT_THAT(Problems(settings), IsEmpty());
}

TEST(CheckPacketSettings, RefusesCreditsForLessThanAPacket) {
  EXPECT_THAT(Problems(Credits(4'223)), AllOf(HasSubstr("[TL1804]"), HasSubstr("4224 B")));
}

// A packet takes 334.24 ns, its credits are back after twice that and 500 ns: four packets of 66
// credits of 64 B are under way.
TEST(CheckPacketSettings, WarnsOfCreditsThatLeaveTheCableIdle) {
  EXPECT_THAT(Problems(Credits(16'895)),
              AllOf(HasSubstr("warning: "), HasSubstr("[TL1805]"), HasSubstr("at least 16896 B")));
  EXPECT_THAT(Problems(Credits(16'896)), IsEmpty());
}

TEST(CheckPacketSettings, WarnsOfQueuesShorterThanTheBandwidthDelayProduct) {
  Settings settings = Lossy();
  settings.switches.buffer = Bytes(20'000);
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("warning: "), HasSubstr("[TL1805]")));
}

TEST(CheckPacketSettings, RefusesLossWithoutRetransmission) {
  Settings settings = Lossy();
  settings.transport.retry_limit = 0;
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1806]"));
  settings = Lossy();
  settings.transport.retransmit_timeout = Time::Microseconds(1);
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1812]"));
}

TEST(CheckPacketSettings, TakesAnyTimeoutWhereNothingIsLost) {
  Settings settings;
  settings.transport.retransmit_timeout = Time::Microseconds(1);
  EXPECT_THAT(Problems(settings), Not(HasSubstr("TL1812")));
}

// All of the pool, 2 MB less what 4 ports x 2 classes reserve, is no more than 1.8 MB; an input is
// paused at alpha / (1 + alpha) of it, a ninth.
TEST(CheckPacketSettings, WarnsOfAResumeThatWaitsForAnEmptyInput) {
  Settings settings;
  settings.switches.buffer = Bytes(2'000'000);
  settings.switches.pause.alpha = 0.125;
  settings.switches.pause.resume = Bytes(200'000);
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("warning: "), HasSubstr("[TL1841]")));
  settings.switches.pause.resume = Bytes(100'000);
  EXPECT_THAT(Problems(settings), IsEmpty());
}

TEST(CheckPacketSettings, RefusesGapsAndThresholdsThatChooseNothing) {
  Settings settings;
  settings.routing = RoutingPolicy::kFlowlet;
  settings.transport.recovery = LossRecovery::kSelectiveRepeat;
  settings.parameters.flowlet_gap = Time();
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("error: "), HasSubstr("[TL1840]")));
  settings.parameters = {};
  settings.parameters.threshold = Bytes(std::int64_t{1} << 62);
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("error: "), HasSubstr("[TL1840]")));
}

TEST(CheckPacketSettings, RefusesManyPathsWithGoBackN) {
  Settings settings;
  settings.routing = RoutingPolicy::kAdaptive;
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("[TL1807]"), HasSubstr("selective_repeat")));
  settings.transport.recovery = LossRecovery::kSelectiveRepeat;
  EXPECT_THAT(Problems(settings), IsEmpty());
}

TEST(CheckPacketSettings, RefusesCurvesThatMarkNothingOrBackwards) {
  Settings settings;
  settings.switches.marking = MarkingCurve{Bytes(200'000), Bytes(100'000), 0.2};
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1808]"));
  settings.switches.marking = MarkingCurve{Bytes(100'000), Bytes(200'000), 0};
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1808]"));
}

TEST(CheckPacketSettings, RefusesAPolicyWithoutTheMarksThatItNeeds) {
  Settings settings;
  settings.transport.policy.name = "dcqcn";
  settings.transport.policy.needs_marks = true;
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("[TL1809]"), HasSubstr("dcqcn")));
  settings.switches.marking = MarkingCurve{Bytes(100'000), Bytes(400'000), 0.2};
  EXPECT_THAT(Problems(settings), IsEmpty());
}

TEST(CheckPacketSettings, WarnsOfMarksThatComeAfterThePause) {
  Settings settings;
  settings.switches.buffer = Bytes(1'000'000);
  settings.switches.marking = MarkingCurve{Bytes(400'000), Bytes(1'600'000), 0.2};
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1810]"));
}

TEST(CheckPacketSettings, RefusesSizesBeyondWhatPacketsCount) {
  Settings settings;
  settings.transport.mtu = Bytes(65'536);
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("[TL1801]"), HasSubstr("at most 65453 B")));
  EXPECT_THAT(Problems(Credits(INT64_C(1) << 40)), HasSubstr("[TL1801]"));
  settings = {};
  settings.switches.classes = 9;
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1801]"));
  settings.switches.classes = 3;
  settings.switches.weights = {1};
  EXPECT_THAT(Problems(settings), HasSubstr("one of at least 1 for each of the 2 data classes"));
}

TEST(CheckPacketSettings, RefusesThresholdsThatAreNoShare) {
  Settings settings;
  settings.switches.pause.alpha = 0;
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1813]"));
  settings = Lossy();
  settings.switches.egress_alpha = -1;
  EXPECT_THAT(Problems(settings), HasSubstr("[TL1813]"));
}

// Six links of 100 Gb/s and 50 ns, five switches of 400 ns: 82 B of headers on all but the last,
// 1,082 B there.
TEST(LoneTime, IsThatOfHeadersWhereSwitchesCutThrough) {
  const BuiltFabric built = FatTree();
  const Router router(built.fabric, {.policy = RoutingPolicy::kStatic});
  const auto placement = PackedPlacement(built.fabric, 16);
  ASSERT_TRUE(placement.has_value());
  for (const std::int64_t bytes : {1'000, 4'096, 5'000, 1'000'000}) {
    Settings settings = Credits(0);
    settings.switches.cut_through = true;
    TrafficWorkload traffic;
    traffic.ranks = 16;
    traffic.flows.emplace_back();
    traffic.flows[0].destination = RankId{15};
    traffic.flows[0].bytes = Bytes(bytes);
    const auto report =
        RunPacketTraffic({router, settings.switches, settings.transport}, traffic, *placement, {});
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->flows[0].delivered, report->flows[0].alone) << bytes;
    if (bytes == 1'000) {
      EXPECT_EQ(report->flows[0].alone, Time::Picoseconds(2'300'000 + 5 * 6'560 + 86'560));
    }
  }
}

TEST(CheckPacketSettings, RefusesLanesThatAreNotThereOrNeverServed) {
  Settings settings = Credits(0);
  settings.switches.classes = 3;
  settings.switches.lane_of_class = {0, 2};
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("[TL1819]"), HasSubstr("virtual lane 2")));
  settings.switches.lane_of_class = {0, 1};
  settings.switches.arbitration = VlArbitration{.high = {{0, 10}}, .low = {{1, 0}}};
  EXPECT_THAT(Problems(settings), HasSubstr("no arbitration table serves virtual lane 1"));
  settings.switches.arbitration->low[0].weight = 1;
  EXPECT_THAT(Problems(settings), IsEmpty());
}

// What the warning promises: a lone flow runs at full rate with as much, and not with a packet
// less.
TEST(CheckPacketSettings, AsManyCreditsAsAskedForKeepALoneFlowAtFullRate) {
  const BuiltFabric built = FatTree();
  const Router router(built.fabric, {.policy = RoutingPolicy::kStatic});
  const auto placement = PackedPlacement(built.fabric, 16);
  ASSERT_TRUE(placement.has_value());
  TrafficWorkload traffic;
  traffic.ranks = 16;
  traffic.flows.emplace_back();
  traffic.flows[0].destination = RankId{15};
  traffic.flows[0].bytes = Bytes(1 << 20);
  const auto slowdown = [&](std::int64_t credits) {
    const Settings settings = Credits(credits);
    const auto report =
        RunPacketTraffic({router, settings.switches, settings.transport}, traffic, *placement, {});
    TL_CHECK(report.has_value() && report->status == RunStatus::kFinished, "run");
    return report->flows[0].delivered.seconds() / report->flows[0].alone.seconds();
  };
  EXPECT_EQ(slowdown(16'896), 1);
  EXPECT_GT(slowdown(16'896 - 4'224), 1.1);
}

TEST(CheckPacketSettings, RefusesAcknowledgementsInLanesOfDataThatWaitForEachOther) {
  Settings settings;
  settings.transport.acks_with_data = true;
  EXPECT_THAT(Problems(settings), IsEmpty());
  Settings credits = Credits(0);
  credits.transport.acks_with_data = true;
  EXPECT_THAT(Problems(credits), HasSubstr("[TL1835]"));
}

TEST(CheckPacketSettings, RefusesABaseRoundTripOfNothing) {
  Settings settings;
  settings.transport.base_rtt = Time();
  EXPECT_THAT(Problems(settings), AllOf(HasSubstr("[TL1836]"), HasSubstr("base_rtt above 0")));
}

}  // namespace
}  // namespace trunkline
