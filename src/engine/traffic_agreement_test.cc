#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/test_units.h"
#include "engine/test_fabrics.h"
#include "trunkline/base/statistics.h"
#include "trunkline/engine/packet.h"
#include "trunkline/engine/traffic.h"
#include "trunkline/transport/congestion_control.h"

// The same traffic as packets and as fluid flows (design: within 3 % on lone flows and symmetric
// single bottlenecks, the same header efficiency, no congestion control).
namespace trunkline {
namespace {

// Hosts on one switch, with headers of the packet transport in either engine.
class StarTraffic {
 public:
  explicit StarTraffic(std::uint32_t hosts)
      : fabric_(Crossbar(hosts, k100Gb, Time::Microseconds(1))),
        router_(fabric_, {.policy = RoutingPolicy::kEcmp,
                          .wire_bytes = (transport_.mtu + transport_.packet_overhead).count(),
                          .payload_bytes = transport_.mtu.count()}),
        placement_(*PackedPlacement(fabric_, hosts)) {}

  [[nodiscard]] TrafficWorkload Traffic(const TrafficSpec& spec, std::uint64_t seed = 1) const {
    auto traffic =
        MakeTraffic(spec, static_cast<std::uint32_t>(placement_.rank_count()), k100Gb, seed);
    EXPECT_TRUE(traffic.has_value()) << Format(traffic.error().front());
    return *std::move(traffic);
  }
  [[nodiscard]] FlowTrafficReport AsFlows(const TrafficWorkload& traffic) const {
    auto report = RunFlowTraffic(router_, traffic, placement_, {});
    EXPECT_TRUE(report.has_value()) << Format(report.error().front());
    return *std::move(report);
  }
  [[nodiscard]] PacketReport AsPackets(const TrafficWorkload& traffic) const {
    return AsPackets(traffic, SwitchModel(), transport_);
  }
  [[nodiscard]] PacketReport AsPackets(const TrafficWorkload& traffic, const SwitchModel& switches,
                                       const PacketTransport& transport) const {
    auto report = RunPacketTraffic({router_, switches, transport}, traffic, placement_, {});
    EXPECT_TRUE(report.has_value()) << Format(report.error().front());
    return *std::move(report);
  }
  // Wire bytes of a payload byte in full packets.
  [[nodiscard]] double overhead() const {
    return static_cast<double>(router_.options().wire_bytes) /
           static_cast<double>(router_.options().payload_bytes);
  }

 private:
  PacketTransport transport_;
  Fabric fabric_;
  Router router_;
  Placement placement_;
};

TrafficSpec SpecOf(const char* pattern, FlowSizes sizes) {
  TrafficSpec spec;
  spec.jobs.emplace_back();
  spec.jobs[0].pattern = pattern;
  spec.jobs[0].sizes = std::move(sizes);
  return spec;
}

// One receiver's link is offered `load` of what it carries, by `senders` hosts alike.
TrafficSpec OpenIncast(const StarTraffic& star, std::uint32_t senders, double load, FlowSizes sizes,
                       Time window) {
  TrafficSpec spec = SpecOf("incast", std::move(sizes));
  spec.jobs[0].values["senders"].value = senders;
  spec.jobs[0].arrivals = Arrivals::kPoisson;
  spec.jobs[0].load = load / senders / star.overhead();
  spec.warm_up = Time::Picoseconds(window.ps() / 10);
  spec.window = window;
  return spec;
}

struct BothReports {
  FlowTrafficReport flow;
  PacketReport packet;
};

BothReports RunBoth(const char* pattern, std::uint32_t hosts, std::int64_t bytes) {
  const StarTraffic star(hosts);
  const TrafficWorkload traffic = star.Traffic(SpecOf(pattern, FlowSizes::Fixed(Bytes(bytes))));
  return {star.AsFlows(traffic), star.AsPackets(traffic)};
}

// The largest part by which packets differ from fluid flows, over the end of the run and every
// flow's delivery and time alone; more than any tolerance where either did not finish.
double Difference(const BothReports& both) {
  if (both.flow.status != RunStatus::kFinished || both.packet.status != RunStatus::kFinished ||
      both.flow.flows.size() != both.packet.flows.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double most = 0;
  const auto compare = [&](Time packet, Time flow) {
    const double part = std::abs(packet.seconds() / flow.seconds() - 1);
    if (!(part <= most)) most = part;  // a NaN stays, and is within no tolerance
  };
  compare(both.packet.end, both.flow.end);
  for (std::size_t i = 0; i < both.flow.flows.size(); ++i) {
    compare(both.packet.flows[i].delivered, both.flow.flows[i].delivered);
    compare(both.packet.flows[i].alone, both.flow.flows[i].alone);
  }
  return most;
}

TEST(TrafficAgreement, LoneFlowsTakeTheSameTime) {
  EXPECT_LE(Difference(RunBoth("permutation", 2, 2'000'000)), 0.01);
  EXPECT_LE(Difference(RunBoth("permutation", 16, 2'000'000)), 0.01);
}

TEST(TrafficAgreement, AnOutcastSharesItsSenderAlike) {
  EXPECT_LE(Difference(RunBoth("outcast", 9, 2'000'000)), 0.03);
}

TEST(TrafficAgreement, AnIncastSharesItsReceiverAlike) {
  EXPECT_LE(Difference(RunBoth("incast", 9, 2'000'000)), 0.03);
}

// M/G/1 with processor sharing: at load r every message takes 1 / (1 - r) of its time alone on
// average, whatever the distribution of sizes (Kleinrock, Queueing Systems II, section 4.4).
TEST(TrafficLaws, FluidFlowsOnOneLinkAreProcessorSharing) {
  const StarTraffic star(33);
  const FlowSizes shape = FlowSizes::Distribution(
      "mice and elephants",
      {{Bytes(100'000), 0.9}, {Bytes(1'000'000), 0.9}, {Bytes(1'000'001), 1}});
  for (const FlowSizes& sizes : {FlowSizes::Fixed(Bytes(200'000)), shape}) {
    const TrafficWorkload traffic =
        star.Traffic(OpenIncast(star, 32, 0.6, sizes, Time::Microseconds(400'000)));
    const auto report = star.AsFlows(traffic);
    const TrafficStatistics statistics = MeasureTraffic(traffic, report.flows);
    EXPECT_GT(statistics.flows, 10'000U);
    // Latency is paid once and not shared; it is small against 16 us.
    double alone = 0;
    double taken = 0;
    for (const FlowRecord& flow : report.flows) {
      alone += (flow.alone - Time::Microseconds(2)).seconds();
      taken += (flow.delivered - flow.posted - Time::Microseconds(2)).seconds();
    }
    EXPECT_NEAR(taken / alone, 1 / (1 - 0.6), 0.15) << sizes.name();
    EXPECT_FALSE(JudgeSaturation(traffic, report.flows)->saturated);
  }
}

// M/D/1: messages of one packet of one host wait r / (2 (1 - r)) of a packet's time on average.
TEST(TrafficLaws, PacketsOfOneHostAreAnMd1Queue) {
  const StarTraffic star(2);
  const double packet = 4096 * star.overhead() * 8 / 100e9;
  for (const double load : {0.3, 0.6, 0.8}) {
    std::vector<double> waits;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const TrafficWorkload traffic = star.Traffic(
          OpenIncast(star, 1, load, FlowSizes::Fixed(Bytes(4096)), Time::Microseconds(4'000)),
          seed);
      const auto report = star.AsPackets(traffic);
      double waited = 0;
      for (const FlowRecord& flow : report.flows) {
        waited += (flow.delivered - flow.posted - flow.alone).seconds() / packet;
      }
      waits.push_back(waited / static_cast<double>(report.flows.size()));
    }
    const MeanInterval interval = MeanWithConfidence(waits, 0.999);
    EXPECT_NEAR(interval.mean, load / (2 * (1 - load)), *interval.half_width) << load;
    EXPECT_LT(*interval.half_width, 0.25 * interval.mean) << load;
  }
}

TEST(TrafficLaws, ALinkSaturatesWhereItIsOfferedMoreThanItCarries) {
  const StarTraffic star(9);
  for (const double load : {0.5, 1.25}) {
    const TrafficWorkload traffic = star.Traffic(
        OpenIncast(star, 8, load, FlowSizes::Fixed(Bytes(4096)), Time::Microseconds(1'000)));
    const auto flow = JudgeSaturation(traffic, star.AsFlows(traffic).flows);
    const auto packet = JudgeSaturation(traffic, star.AsPackets(traffic).flows);
    EXPECT_EQ(flow->saturated, load > 1) << load;
    EXPECT_EQ(packet->saturated, load > 1) << load;
    // Of messages of one packet no part is under way, so what arrives is what the link carries.
    EXPECT_NEAR(packet->delivered_bytes / packet->offered_bytes, std::min(1 / load, 1.0), 0.02);
  }
}

// Under DCTCP, which needs marks and no notifications: raw flows do what flows without any
// congestion control do, to the picosecond; others keep the queue below what those fill.
TEST(TrafficLaws, RawFlowsAreHeldBackByNoCongestionControl) {
  const StarTraffic star(9);
  const auto control = MakeCongestionControl("dctcp", "", {}, k100Gb);
  ASSERT_TRUE(control.has_value() && control->marking.has_value());
  SwitchModel switches;
  switches.marking = control->marking;
  PacketTransport none;
  none.ack_every = control->ack_every;
  PacketTransport dctcp = none;
  dctcp.policy = control->policy;
  dctcp.policy_parameters = control->parameters;
  TrafficSpec spec = SpecOf("incast", FlowSizes::Fixed(Bytes(2'000'000)));
  const TrafficWorkload controlled = star.Traffic(spec);
  spec.jobs[0].raw = true;
  const TrafficWorkload raw = star.Traffic(spec);

  const PacketReport free = star.AsPackets(controlled, switches, none);
  const PacketReport raw_under = star.AsPackets(raw, switches, dctcp);
  const PacketReport held = star.AsPackets(controlled, switches, dctcp);
  for (std::size_t i = 0; i < free.flows.size(); ++i) {
    EXPECT_EQ(raw_under.flows[i].delivered, free.flows[i].delivered);
  }
  EXPECT_EQ(raw_under.counters.pauses, free.counters.pauses);
  EXPECT_GT(free.counters.marks, 2 * held.counters.marks);
}

}  // namespace
}  // namespace trunkline
