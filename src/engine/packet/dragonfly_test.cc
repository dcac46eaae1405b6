#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/packet/test_network.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"
#include "trunkline/engine/packet.h"
#include "trunkline/workload/traffic.h"

// Laws of Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA
// 2008), on p = 2, a = 4, h = 2, g = 9: 72 hosts, as BookSim's dragonflynew with k = 2. A packet is
// a flit of BookSim and its time on a link a cycle: cables take 10 cycles within a group and 100
// between groups, and each virtual channel has a buffer of 256 packets.
namespace trunkline {
namespace {

constexpr std::uint32_t kHosts = 72;
constexpr std::uint32_t kHostsPerGroup = 8;
constexpr Bytes kPacket{1'000};
constexpr Time kCycle = Time::Nanoseconds(80);  // 1,000 B at 100 Gb/s

Fabric Dragonfly() {
  const Fabric built = FabricOf("dragonfly:h=2,link=100Gb/s", kCycle);
  FabricBuilder builder;
  builder.CopyDevices(built);
  for (std::size_t i = 0; i < built.link_count(); i += 2) {
    const Link& link = built.link(LinkId(i));
    const std::uint32_t from = built.device(link.from).group;
    const std::uint32_t to = built.device(link.to).group;
    const bool host = from == Device::kNoGroup || to == Device::kNoGroup;
    builder.AddCable(link.from, link.to, link.rate,
                     kCycle * (host         ? 1
                               : from == to ? 10
                                            : 100),
                     link.kind);
  }
  return std::move(builder).Build();
}

enum class Pattern : std::uint8_t { kUniform, kGroupShift };

// Every host sends without end: to its like in the next group, or to sixteen others in turn, by
// random permutations of all.
TrafficWorkload Endless(Pattern pattern, Time until) {
  constexpr std::uint32_t kPermutations = 16;
  TrafficWorkload traffic;
  traffic.ranks = kHosts;
  const auto bytes = Bytes(static_cast<std::int64_t>(until.seconds() * 12.5e9));
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    TrafficFlow flow;
    flow.source = RankId{from};
    flow.destination = RankId{to};
    flow.bytes = bytes;
    flow.raw = true;
    if (from != to) traffic.flows.push_back(flow);
  };
  if (pattern == Pattern::kGroupShift) {
    for (std::uint32_t host = 0; host < kHosts; ++host) add(host, (host + kHostsPerGroup) % kHosts);
    return traffic;
  }
  std::vector<std::uint32_t> to(kHosts);
  for (std::uint32_t p = 0; p < kPermutations; ++p) {
    std::iota(to.begin(), to.end(), 0);
    for (std::uint32_t i = kHosts - 1; i > 0; --i)
      std::swap(to[i], to[Below(Draw(5, p, i), i + 1)]);
    for (std::uint32_t host = 0; host < kHosts; ++host) add(host, to[host]);
  }
  return traffic;
}

struct Setting {
  RoutingPolicy policy = RoutingPolicy::kMinimal;
  RoutingParameters parameters = {};
  Pattern pattern = Pattern::kGroupShift;
  std::uint32_t threads = 1;
};

PacketReport Run(const Setting& setting, const TrafficWorkload& traffic, Time until) {
  static const Fabric fabric = Dragonfly();
  RouterOptions options;
  options.policy = setting.policy;
  options.parameters = setting.parameters;
  const Router router(fabric, options);
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.lane_buffer = Bytes(256 * 1'024);  // credits are of 64 B
  PacketTransport transport;
  transport.mtu = kPacket;
  transport.packet_overhead = Bytes(0);
  transport.message_overhead = Time();
  transport.ack_every = 1'024;
  transport.ack_bytes = Bytes(1);
  transport.recovery = LossRecovery::kSelectiveRepeat;
  const auto placement = PackedPlacement(fabric, kHosts);
  TL_CHECK(placement.has_value(), "placement");
  PacketOptions run;
  run.until = until;
  run.threads = setting.threads;
  auto report = RunPacketTraffic({router, switches, transport}, traffic, *placement, run);
  TL_CHECK(report.has_value(), "run");
  return *std::move(report);
}

PacketReport RunUntil(const Setting& setting, Time until) {
  return Run(setting, Endless(setting.pattern, until), until);
}

// Mean latency, in cycles, of packets that hosts post at random moments.
double Latency(const Setting& setting, double load) {
  TrafficSpec spec;
  TrafficJob job;
  job.pattern = setting.pattern == Pattern::kUniform ? "uniform" : "group-shift";
  if (setting.pattern == Pattern::kGroupShift) job.values["group_size"] = {.value = kHostsPerGroup};
  job.sizes = FlowSizes::Fixed(kPacket);
  job.arrivals = Arrivals::kPoisson;
  job.load = load;
  job.raw = true;
  spec.jobs = {job};
  spec.warm_up = kCycle * 1'000;
  spec.window = kCycle * 1'000;
  spec.drain = kCycle * 500;
  const auto traffic = MakeTraffic(spec, kHosts, Rate::GigabitsPerSecond(100), 1);
  TL_CHECK(traffic.has_value(), "traffic");
  const PacketReport report = Run(setting, *traffic, Time::Horizon());
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < report.flows.size(); ++i) {
    const FlowRecord& flow = report.flows[i];
    if (flow.posted < traffic->measure_from || flow.posted >= traffic->measure_until) continue;
    sum += (flow.delivered - flow.posted).seconds() / kCycle.seconds();
    ++count;
  }
  return sum / count;
}

// What hosts receive in the second half of 5,000 cycles, as a share of what their links carry.
double Accepted(const Setting& setting) {
  const Time half = kCycle * 2'500;
  const std::int64_t before = RunUntil(setting, half).counters.delivered_bytes;
  const std::int64_t after = RunUntil(setting, half * 2).counters.delivered_bytes;
  return static_cast<double>(after - before) / (half.seconds() * 12.5e9 * kHosts);
}

// All p a hosts of a group share the one cable to the next.
TEST(Dragonfly, CarriesTheWorstCaseAtOneOverPAOnMinimalPaths) {
  EXPECT_NEAR(Accepted({.policy = RoutingPolicy::kMinimal}), 1.0 / 8, 0.02 / 8);
}

// Packets cross 2 (g - 1) / g cables between groups on average, of which there is one a host.
TEST(Dragonfly, CarriesTheWorstCaseAtHalfByRandomGroups) {
  const double bound = 9.0 / (2 * 8);
  const double by_group = Accepted({.policy = RoutingPolicy::kValiant});
  EXPECT_GT(by_group, 0.9 * bound);
  EXPECT_LE(by_group, bound);
  const double by_router =
      Accepted({.policy = RoutingPolicy::kValiant, .parameters = {.via_router = true}});
  EXPECT_GT(by_router, 0.9 * bound);
  EXPECT_LE(by_router, bound);
}

// BookSim2 accepts 0.846 on minimal paths and 0.609 by random routers; the bound of the latter is
// g^2 / (2 (g - 1)^2), since 1 / g of the traffic stays in its group.
TEST(Dragonfly, CarriesUniformTrafficNearlyWholeOnMinimalPaths) {
  const double minimal =
      Accepted({.policy = RoutingPolicy::kMinimal, .pattern = Pattern::kUniform});
  EXPECT_NEAR(minimal, 0.846, 0.05 * 0.846);
  const double valiant =
      Accepted({.policy = RoutingPolicy::kValiant, .pattern = Pattern::kUniform});
  EXPECT_NEAR(valiant, 0.609, 0.05 * 0.609);
  EXPECT_LE(valiant, 81.0 / (2 * 64));
}

// UGAL comes near MIN where that is best, and near VAL where that is: more than four times MIN.
TEST(Dragonfly, AdaptsToThePattern) {
  for (const RoutingPolicy policy :
       {RoutingPolicy::kUgalL, RoutingPolicy::kUgalG, RoutingPolicy::kPar}) {
    EXPECT_GT(Accepted({.policy = policy, .pattern = Pattern::kUniform}), 0.8) << ToString(policy);
    EXPECT_GT(Accepted({.policy = policy}), 0.5) << ToString(policy);
  }
}

// BookSim2's mean latencies, in cycles, which count a router's pipeline too.
TEST(Dragonfly, TakesAsLongAsInBookSimOnMinimalPaths) {
  const Setting uniform{.policy = RoutingPolicy::kMinimal, .pattern = Pattern::kUniform};
  EXPECT_NEAR(Latency(uniform, 0.2), 113.4, 0.03 * 113.4);
  EXPECT_NEAR(Latency(uniform, 0.6), 115.3, 0.03 * 115.3);
  EXPECT_NEAR(Latency({.policy = RoutingPolicy::kMinimal}, 0.1), 126.8, 0.03 * 126.8);
}

// Kim and others, figure 8: to notice that a cable of another router is full, UGAL-L has to fill
// the queue in front of it, 256 packets deep; who knows that queue turns off in time.
TEST(Dragonfly, IsSlowAtIntermediateLoadWhereRemoteQueuesAreNotKnown) {
  const double valiant = Latency({.policy = RoutingPolicy::kValiant}, 0.3);
  const double local = Latency({.policy = RoutingPolicy::kUgalL}, 0.3);
  const double global = Latency({.policy = RoutingPolicy::kUgalG}, 0.3);
  EXPECT_GT(local, 2 * valiant);
  EXPECT_LT(global, 1.05 * valiant);
  // Without contention all but Valiant take the minimal path.
  EXPECT_LT(Latency({.policy = RoutingPolicy::kUgalL, .pattern = Pattern::kUniform}, 0.1), 115);
  EXPECT_GT(Latency({.policy = RoutingPolicy::kValiant, .pattern = Pattern::kUniform}, 0.1), 180);
}

// What was on the cable is sent again after a timeout, by a third group.
TEST(Dragonfly, PassesAThirdGroupWhileTheCableBetweenTwoIsDown) {
  const Fabric fabric = FabricOf("dragonfly:h=2,link=100Gb/s", kCycle);
  TimedFault fault;
  fault.at = kCycle * 200;
  fault.until = kCycle * 2'000;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (fabric.device(link.from).group != 0 || fabric.device(link.to).group != 1) continue;
    fault.target = fabric.name(link.from) + "/" + fabric.name(link.to);
  }
  const std::vector<TimedFault> faults = {fault};
  TrafficWorkload traffic;
  traffic.ranks = kHosts;
  for (std::uint32_t host = 0; host < kHostsPerGroup; ++host) {
    TrafficFlow flow;
    flow.source = RankId{host};
    flow.destination = RankId{host + kHostsPerGroup};
    flow.bytes = kPacket * 64;
    traffic.flows.push_back(flow);
  }
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  PacketTransport transport;
  transport.mtu = kPacket;
  transport.recovery = LossRecovery::kSelectiveRepeat;
  transport.retransmit_timeout = kCycle * 700;
  const auto placement = PackedPlacement(fabric, kHosts);
  ASSERT_TRUE(placement.has_value());
  for (const RoutingPolicy policy : {RoutingPolicy::kMinimal, RoutingPolicy::kUgalG}) {
    RouterOptions options;
    options.policy = policy;
    const Router router(fabric, options);
    const auto report = RunPacketTraffic({router, switches, transport, faults, kCycle * 10},
                                         traffic, *placement, {});
    ASSERT_TRUE(report.has_value()) << ToString(policy);
    EXPECT_EQ(report->status, RunStatus::kFinished);
    // Eight hosts of 64 packets would take the one cable for 512 cycles.
    for (const FlowRecord& flow : report->flows) {
      EXPECT_LT(flow.delivered, kCycle * 2'000) << ToString(policy);
    }
  }
}

TEST(Dragonfly, GivesTheSameResultInAnyNumberOfShards) {
  for (const RoutingPolicy policy :
       {RoutingPolicy::kValiant, RoutingPolicy::kUgalG, RoutingPolicy::kPar}) {
    const PacketReport one = RunUntil({.policy = policy}, kCycle * 1'000);
    const PacketReport four = RunUntil({.policy = policy, .threads = 4}, kCycle * 1'000);
    EXPECT_EQ(one.counters.delivered_bytes, four.counters.delivered_bytes) << ToString(policy);
    EXPECT_EQ(one.counters.hops.data, four.counters.hops.data) << ToString(policy);
    EXPECT_EQ(one.events, four.events) << ToString(policy);
  }
}

}  // namespace
}  // namespace trunkline
