#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/packet/test_network.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {
namespace {

// A pattern of messages of one size on a fabric, under switches and a transport.
struct Case {
  const char* fabric = "";
  const char* pattern = "permutation";
  Bytes size;
  RoutingPolicy routing = RoutingPolicy::kEcmp;
  SwitchModel switches;
  PacketTransport transport;
  double load = 0;  // 0: all at once
};

PacketReport RunTraffic(const Case& of, const TrafficWorkload& traffic,
                        const PacketOptions& options, std::span<const TimedFault> faults = {}) {
  const Fabric fabric = FabricOf(of.fabric, Time::Microseconds(1));
  RouterOptions routing;
  routing.policy = of.routing;
  const Router router(fabric, routing);
  const auto placement = PackedPlacement(fabric, traffic.ranks);
  TL_CHECK(placement.has_value(), "placement");
  auto report =
      RunPacketTraffic({router, of.switches, of.transport, faults}, traffic, *placement, options);
  TL_CHECK(report.has_value(), "run", Format(report.error().front()));
  return *std::move(report);
}

PacketReport RunCase(const Case& of, std::optional<FastForwarding> fast_forward,
                     std::uint32_t threads = 1) {
  const auto hosts = FabricOf(of.fabric, Time::Microseconds(1)).endpoints().size();
  TrafficSpec spec;
  TrafficJob& job = spec.jobs.emplace_back();
  job.pattern = of.pattern;
  job.sizes = FlowSizes::Fixed(of.size);
  if (of.load > 0) {
    job.arrivals = Arrivals::kPoisson;
    job.load = of.load;
    spec.window = Time::Microseconds(2'000);
  }
  const auto traffic =
      MakeTraffic(spec, static_cast<std::uint32_t>(hosts), Rate::GigabitsPerSecond(100), 1);
  TL_CHECK(traffic.has_value(), "traffic");
  PacketOptions options;
  options.threads = threads;
  options.fast_forward = fast_forward;
  return RunTraffic(of, *traffic, options);
}

SwitchModel Switches(LossControl loss_control, std::optional<MarkingCurve> marking = {}) {
  SwitchModel switches;
  switches.loss_control = loss_control;
  switches.marking = marking;
  return switches;
}

Case Under(std::string_view policy, std::string_view preset, RoutingPolicy routing,
           LossControl loss_control) {
  const auto made = MakeCongestionControl(policy, preset, {}, Rate::GigabitsPerSecond(100));
  TL_CHECK(made.has_value(), "congestion control");
  Case of{.fabric = "fat-tree:k=4,link=100Gb/s",
          .size = Bytes(40'000'000),
          .routing = routing,
          .switches = Switches(loss_control, made->marking),
          .transport = {}};
  Adopt(*made, of.transport);
  return of;
}

// How far the completion of any flow is from that of the exact run.
Time WorstOf(const PacketReport& exact, const PacketReport& fast) {
  Time worst;
  for (std::size_t i = 0; i < exact.flows.size(); ++i) {
    const Time difference = exact.flows[i].delivered - fast.flows[i].delivered;
    worst = std::max({worst, difference, Time() - difference});
  }
  return worst;
}

// Skips, saves a tenth of the events at least, ends each flow within the error that it states,
// which is no more than 6 % of the run, and moves what the exact run does.
testing::AssertionResult StaysWithinBound(const Case& of, double tolerance) {
  const PacketReport exact = RunCase(of, {});
  const PacketReport fast = RunCase(of, FastForwarding{.tolerance = tolerance});
  if (!fast.fast_forward) return testing::AssertionFailure() << "says nothing of what was skipped";
  const auto sent = [](const PacketReport& report) {
    return report.counters.packets.data - report.counters.retransmissions;
  };
  const Time error = fast.fast_forward->error;
  const std::pair<const char*, bool> laws[] = {
      {"finishes", fast.status == RunStatus::kFinished},
      {"skips", fast.fast_forward->skips > 0},
      {"saves events", fast.events < exact.events * 9 / 10},
      {"ends within its error", WorstOf(exact, fast) <= error},
      {"states a small error", error.seconds() < 0.06 * exact.end.seconds()},
      {"delivers all bytes", fast.counters.delivered_bytes == exact.counters.delivered_bytes},
      {"sends all packets", sent(fast) == sent(exact)},
  };
  for (const auto& [law, holds] : laws) {
    if (!holds) {
      return testing::AssertionFailure()
             << "not so: " << law << "; worst " << WorstOf(exact, fast).ps() << " ps, error "
             << error.ps() << " ps, " << fast.events << " of " << exact.events << " events";
    }
  }
  return testing::AssertionSuccess();
}

constexpr const char* kTree = "fat-tree:k=4,link=100Gb/s";
constexpr const char* kSwitch = "single-switch:nodes=5,link=100Gb/s";

Case Without(LossControl loss_control, const char* fabric, const char* pattern) {
  Case of = Under("none", "", RoutingPolicy::kStatic, loss_control);
  of.fabric = fabric;
  of.pattern = pattern;
  return of;
}

TEST(FastForward, StaysWithinItsBoundWithCredits) {
  EXPECT_TRUE(StaysWithinBound(Without(LossControl::kCredits, kSwitch, "incast"), 0.01));
  EXPECT_TRUE(StaysWithinBound(Without(LossControl::kCredits, kTree, "permutation"), 0.01));
}

TEST(FastForward, StaysWithinItsBoundWithPauses) {
  Case of = Without(LossControl::kPause, kSwitch, "incast");
  of.size = Bytes(400'000'000);
  EXPECT_TRUE(StaysWithinBound(of, 0.05));
}

TEST(FastForward, StaysWithinItsBoundUnderSwift) {
  Case of = Under("swift", "", RoutingPolicy::kStatic, LossControl::kPause);
  of.fabric = "single-switch:nodes=3,link=100Gb/s";
  of.pattern = "incast";
  of.size = Bytes(300'000'000);
  EXPECT_TRUE(StaysWithinBound(of, 0.05));
}

TEST(FastForward, StaysWithinItsBoundUnderHpcc) {
  Case of = Under("hpcc", "", RoutingPolicy::kStatic, LossControl::kPause);
  of.fabric = kSwitch;
  of.size = Bytes(100'000'000);
  EXPECT_TRUE(StaysWithinBound(of, 0.01));
}

TEST(FastForward, StaysWithinItsBoundUnderDcqcnWhereNothingIsMarked) {
  Case of = Under("dcqcn", "dcqcn-ns3", RoutingPolicy::kEcmp, LossControl::kPause);
  of.fabric = kSwitch;
  of.size = Bytes(200'000'000);
  EXPECT_TRUE(StaysWithinBound(of, 0.01));
}

TEST(FastForward, StaysWithinItsBoundWithSprayedPackets) {
  Case of = Under("nscc", "", RoutingPolicy::kSpray, LossControl::kLossy);
  of.transport.recovery = LossRecovery::kSelectiveRepeat;
  of.switches.trimming = true;
  of.fabric = "fat-tree:children=[3,2],parents=[1,3],link=100Gb/s";
  of.size = Bytes(200'000'000);
  EXPECT_TRUE(StaysWithinBound(of, 0.05));
}

TEST(FastForward, StaysWithinItsBoundWithSockets) {
  Case of = Under("cubic", "", RoutingPolicy::kStatic, LossControl::kLossy);
  of.transport = DefaultPacketTransport(DefaultTransport(TransportKind::kTcp));
  of.fabric = kSwitch;
  of.size = Bytes(200'000'000);
  EXPECT_TRUE(StaysWithinBound(of, 0.05));
}

// A report without what only tells how it was computed.
std::string Print(const PacketReport& report) {
  std::string text = fmt::format("{} {}", report.end.ps(), report.counters.hops.data);
  for (const FlowRecord& flow : report.flows) {
    text += fmt::format(" {} {}", flow.delivered.ps(), flow.acknowledged.ps());
  }
  for (const PacketLinkUse& use : report.links) {
    text += fmt::format(" {} {} {}", Index(use.link), use.wire_bytes, use.packets);
  }
  return text;
}

TEST(FastForward, IsTheSameForAnyNumberOfThreads) {
  const Case of = Without(LossControl::kCredits, kTree, "permutation");
  const PacketReport alone = RunCase(of, FastForwarding());
  const PacketReport together = RunCase(of, FastForwarding(), 3);
  EXPECT_EQ(Print(alone), Print(together));
  EXPECT_GT(together.fast_forward->skips, 0U);
  EXPECT_EQ(alone.fast_forward->skips, together.fast_forward->skips);
  EXPECT_EQ(alone.fast_forward->error, together.fast_forward->error);
}

TEST(FastForward, CountsOnLinksWhatItCountsInAll) {
  const Case of = Without(LossControl::kCredits, kTree, "permutation");
  const PacketReport report = RunCase(of, FastForwarding());
  std::uint64_t packets = 0;
  for (const PacketLinkUse& use : report.links) packets += use.packets;
  const PacketCounts& hops = report.counters.hops;
  EXPECT_EQ(packets, hops.data + hops.ack + hops.control);
  EXPECT_GT(report.fast_forward->skips, 0U);
}

TEST(FastForward, SkipsNothingOfMessagesThatComeAtRandom) {
  Case of = Without(LossControl::kPause, kSwitch, "uniform");
  of.load = 0.5;
  of.size = Bytes(100'000);
  const PacketReport exact = RunCase(of, {});
  const PacketReport fast = RunCase(of, FastForwarding());
  EXPECT_EQ(fast.fast_forward->skips, 0U);
  EXPECT_EQ(fast.fast_forward->error, Time());
  EXPECT_EQ(fast.events, exact.events);
  EXPECT_EQ(Print(fast), Print(exact));
}

TrafficFlow Flow(std::uint32_t source, std::uint32_t destination, Bytes bytes, Time start) {
  TrafficFlow flow;
  flow.source = RankId(source);
  flow.destination = RankId(destination);
  flow.bytes = bytes;
  flow.start = start;
  return flow;
}

TEST(FastForward, PostsWhatBeginsDuringTheRunWhenItIsDue) {
  const Case of = Without(LossControl::kPause, kSwitch, "");
  TrafficWorkload traffic;
  traffic.ranks = 5;
  traffic.flows = {Flow(0, 1, Bytes(50'000'000), Time()),
                   Flow(2, 3, Bytes(1'000'000), Time::Microseconds(2'000)),
                   Flow(3, 4, Bytes(1'000'000), Time::Microseconds(3'500))};
  const PacketReport exact = RunTraffic(of, traffic, {});
  PacketOptions options;
  options.fast_forward.emplace();
  const PacketReport fast = RunTraffic(of, traffic, options);
  EXPECT_GT(fast.fast_forward->skips, 1U);
  EXPECT_LT(fast.events, exact.events / 2);
  EXPECT_EQ(fast.flows[1].posted, Time::Microseconds(2'000));
  EXPECT_EQ(fast.flows[2].posted, Time::Microseconds(3'500));
  // They have their paths for themselves.
  EXPECT_EQ(fast.flows[1].delivered, exact.flows[1].delivered);
  EXPECT_EQ(fast.flows[2].delivered, exact.flows[2].delivered);
  EXPECT_LE(WorstOf(exact, fast), fast.fast_forward->error);
}

TEST(FastForward, EndsWhenTheRunIsToEnd) {
  const Case of = Without(LossControl::kPause, kSwitch, "");
  TrafficWorkload traffic;
  traffic.ranks = 5;
  traffic.flows = {Flow(0, 1, Bytes(500'000'000), Time())};
  PacketOptions options;
  options.until = Time::Microseconds(20'000);
  options.fast_forward.emplace();
  const PacketReport report = RunTraffic(of, traffic, options);
  EXPECT_EQ(report.status, RunStatus::kUnfinished);
  EXPECT_EQ(report.end, options.until);
  EXPECT_GT(report.fast_forward->skips, 0U);
  // What a link of 100 Gb/s has carried by then, of packets of 4,096 bytes with 82 of headers.
  EXPECT_NEAR(static_cast<double>(report.counters.delivered_bytes), 100e9 / 8 * 20e-3 * 4096 / 4178,
              4e5);
}

TEST(FastForward, WaitsUntilNothingBefallsCablesAnyMore) {
  const Case of = Without(LossControl::kPause, kSwitch, "");
  TrafficWorkload traffic;
  traffic.ranks = 5;
  traffic.flows = {Flow(0, 1, Bytes(200'000'000), Time())};
  TimedFault fault;
  const Fabric fabric = FabricOf(of.fabric, Time::Microseconds(1));
  const Link& cable = fabric.link(fabric.out(fabric.endpoints()[1]).front());
  fault.target = fmt::format("{}/{}", fabric.name(cable.from), fabric.name(cable.to));
  fault.kind = TimedFault::Kind::kRate;
  fault.fraction = 0.5;
  fault.at = Time::Microseconds(5'000);
  const PacketReport exact = RunTraffic(of, traffic, {}, {&fault, 1});
  PacketOptions options;
  options.fast_forward = FastForwarding{.tolerance = 0.05};
  const PacketReport fast = RunTraffic(of, traffic, options, {&fault, 1});
  EXPECT_GT(fast.fast_forward->skips, 0U);
  EXPECT_GT(fast.events, exact.events / 3);
  EXPECT_LE(WorstOf(exact, fast), fast.fast_forward->error);
}

}  // namespace
}  // namespace trunkline
