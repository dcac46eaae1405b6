#include <gtest/gtest.h>

#include "base/test_sanitizers.h"
#include "engine/packet/booksim.h"
#include "engine/packet/test_network.h"

// Laws of Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA
// 2008), on p = 2, a = 4, h = 2, g = 9: 72 hosts, as BookSim's dragonflynew with k = 2.
namespace trunkline {
namespace {

using booksim::kCycle;
using booksim::kPacket;
using booksim::Pattern;
using booksim::Setting;

const booksim::Network& Dragonfly72() {
  static const booksim::Network network(2);
  return network;
}
// Half as long under sanitizers, where the laws still hold.
double Accepted(const Setting& setting) {
  return Dragonfly72().Accepted(setting, kCycle * (kSanitized ? 1'250 : 2'500));
}
double Latency(const Setting& setting, double load) { return Dragonfly72().Latency(setting, load); }

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
  constexpr std::uint32_t kHosts = 72;
  constexpr std::uint32_t kHostsPerGroup = 8;
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
    const PacketReport one = Dragonfly72().RunUntil({.policy = policy}, kCycle * 1'000);
    const PacketReport four =
        Dragonfly72().RunUntil({.policy = policy, .threads = 4}, kCycle * 1'000);
    EXPECT_EQ(one.counters.delivered_bytes, four.counters.delivered_bytes) << ToString(policy);
    EXPECT_EQ(one.counters.hops.data, four.counters.hops.data) << ToString(policy);
    EXPECT_EQ(one.events, four.events) << ToString(policy);
  }
}

}  // namespace
}  // namespace trunkline
