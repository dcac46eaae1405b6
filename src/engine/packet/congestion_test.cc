#include <algorithm>
#include <vector>

#include "base/test_units.h"
#include "engine/packet/test_network.h"

namespace trunkline {
namespace {

constexpr Rate k40Gb = Rate::GigabitsPerSecond(40);

// --- Lone flows ---------------------------------------------------------------------------------

// With a window beyond the path and what one acknowledgement covers, and without a queue, nothing
// holds a flow back: it takes the closed form to the picosecond.
TEST(LoneFlow, TakesTheClosedFormUnderEveryCongestionControl) {
  struct Case {
    const char* policy;
    std::vector<CongestionOverride> overrides;
  };
  const std::vector<Case> cases = {{"none", {{"window", 4}}},
                                   {"none", {}},
                                   {"dcqcn", {}},
                                   {"timely", {}},
                                   {"dctcp", {{"initial_window", 2}}},
                                   {"swift", {{"initial_window", 2}}},
                                   {"nscc", {{"max_window", 2}}}};
  for (const Case& each : cases) {
    for (const std::int64_t bytes : {1, 4096, 100'000, 10'000'000}) {
      SwitchModel switches;
      switches.marking = MarkingCurve{Bytes(5'000), Bytes(200'000), 0.01};
      TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), switches,
                          TransportUnder(each.policy, "", k100Gb, each.overrides));
      const std::uint32_t qp = network.Connect(0, 1);
      network.shard.Post(qp, bytes);
      network.Run();
      ASSERT_EQ(network.delivered[qp].size(), 1U);
      EXPECT_EQ(network.delivered[qp][0], LoneTime(network.plant, network.links[qp], Bytes(bytes)))
          << each.policy << ", " << bytes;
    }
  }
}

// Where a byte takes no whole number of picoseconds, frames in a row are rounded up once.
TEST(LoneFlow, TakesTheClosedFormAtRatesOfNoWholePicosecond) {
  for (const std::int64_t rate : {97'000'000'000, 100'000'000'000 / 7, 799'000'000'000}) {
    for (const bool cut_through : {false, true}) {
      for (const std::int64_t bytes : {1, 4096, 4097, 65'536, 10'000'001}) {
        SwitchModel switches;
        switches.cut_through = cut_through;
        TestNetwork network(Crossbar(2, Rate::BitsPerSecond(rate), Time::Microseconds(1)), switches,
                            TransportUnder("none", "", Rate::BitsPerSecond(rate)));
        const std::uint32_t qp = network.Connect(0, 1);
        network.shard.Post(qp, bytes);
        network.Run();
        ASSERT_EQ(network.delivered[qp].size(), 1U);
        EXPECT_EQ(network.delivered[qp][0],
                  LoneTime(network.plant, network.links[qp], Bytes(bytes)))
            << rate << " b/s, " << bytes << (cut_through ? ", cut through" : "");
      }
    }
  }
}

// Through slow cables and out by a faster one, where a short last frame waits for the one before.
TEST(LoneFlow, TakesTheClosedFormOverCablesOfDifferentOddRates) {
  for (const char* rates : {"link=97 Gb/s,uplink=31 Gb/s", "link=31 Gb/s,uplink=97 Gb/s"}) {
    for (const std::int64_t bytes : {100, 4097, 5000, 100'003}) {
      TestNetwork network(
          FabricOf(std::string("clos:nodes=8,radix=8,") + rates, Time::Microseconds(1)), {},
          TransportUnder("none", "", Rate::GigabitsPerSecond(97)));
      const std::uint32_t qp = network.Connect(0, 7);
      network.shard.Post(qp, bytes);
      network.Run();
      ASSERT_EQ(network.delivered[qp].size(), 1U);
      EXPECT_EQ(network.delivered[qp][0], LoneTime(network.plant, network.links[qp], Bytes(bytes)))
          << rates << ", " << bytes;
    }
  }
}

// HPCC leaves a part of its link free: eta of it is used, and what additive steps add.
TEST(LoneFlow, UsesEtaOfItsLinkUnderHpcc) {
  for (const double eta : {0.5, 0.95}) {
    TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), {},
                        TransportUnder("hpcc", "", k100Gb, {{"eta", eta}}));
    const std::uint32_t qp = network.Connect(0, 1);
    network.shard.Post(qp, 20'000'000);
    network.Run();
    ASSERT_EQ(network.delivered[qp].size(), 1U);
    const Time alone = LoneTime(network.plant, network.links[qp], Bytes(20'000'000));
    const double share = alone.seconds() / network.delivered[qp][0].seconds();
    // A window of whole packets: of the 8 or so that fill this path, one may be lost to rounding.
    EXPECT_LE(share, eta + 0.03);
    EXPECT_GE(share, eta - 0.13);
  }
}

// --- Windows and acknowledgements ---------------------------------------------------------------

// Of a packet and a half: one fits, and a second may leave while the first is in flight.
TEST(WindowRule, LetsTheLastPacketExceedTheWindowOrNot) {
  PacketTransport transport = TransportUnder("none", "", k100Gb, {{"window", 1}});
  const Bytes frame = transport.mtu + transport.packet_overhead;
  for (const bool fits : {true, false}) {
    transport.window_rule = fits ? WindowRule::kFits : WindowRule::kNotFull;
    transport.base_rtt = Time::Picoseconds(TransferTime(frame, k100Gb).ps() * 3 / 2);
    TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), {}, transport);
    network.shard.Post(network.Connect(0, 1), 1'000'000);
    network.Run(Time::Microseconds(4));  // no acknowledgement is back
    EXPECT_EQ(network.shard.counters().packets.data, fits ? 1U : 2U);
  }
}

// A lone packet's acknowledgement leaves by a cable that another host's data fills.
TEST(Acknowledgements, WaitBehindDataWhereTheyShareItsClass) {
  for (const bool shared : {false, true}) {
    PacketTransport transport = TransportUnder("none", "", k100Gb);
    transport.acks_with_data = shared;
    TestNetwork network(Crossbar(4, k100Gb, Time::Microseconds(1)), {}, transport);
    const std::uint32_t lone = network.Connect(0, 1);
    // Two hosts send to the first: by 4 us its cable has had 2 us, and 25 KB wait.
    for (const std::uint32_t from : {2U, 3U}) network.shard.Post(network.Connect(from, 0), 60'000);
    network.shard.Post(lone, 4'096);
    network.Run();
    ASSERT_EQ(network.acknowledged[lone].size(), 1U);
    const Time idle = network.plant.paths[lone].base_rtt;
    const Time frame = TransferTime(transport.mtu + transport.packet_overhead, k100Gb);
    const Time late = network.acknowledged[lone][0] - idle;
    if (shared) {
      EXPECT_GT(late, frame * 3);
    } else {
      EXPECT_LE(late, frame);  // the frame in transmission
    }
  }
}

TEST(BaseRoundTrip, IsTheSameOnAllPathsIfTheTransportSaysSo) {
  PacketTransport transport = TransportUnder("dcqcn", "dcqcn-ns3-window", k100Gb);
  transport.base_rtt = Time::Microseconds(12);
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), {}, transport);
  const std::uint32_t qp = network.Connect(0, 1);
  network.shard.Post(qp, 1);
  EXPECT_EQ(network.plant.senders[qp].control.window, 150'000);  // 12 us at 12.5 GB/s
}

// A trigger that fires may activate another: flow 2 waits for 0 and 1, whichever ends last.
TEST(TrafficFlows, BeginInOrderWhereTheirTriggersActivateEachOther) {
  for (const std::int64_t first : {1'000, 1'000'000}) {
    const Fabric fabric = Crossbar(4, k100Gb, Time::Microseconds(1));
    const Router router(fabric, {.policy = RoutingPolicy::kEcmp});
    const auto placement = PackedPlacement(fabric, 4);
    ASSERT_TRUE(placement.has_value());
    TrafficWorkload traffic;
    traffic.ranks = 4;
    for (std::uint32_t i = 0; i < 3; ++i) {
      TrafficFlow flow;
      flow.source = RankId(i);
      flow.destination = RankId(3);
      flow.bytes = Bytes(i == 0 ? first : 200'000);
      traffic.flows.push_back(flow);
    }
    traffic.triggers.resize(2);
    traffic.triggers[0].then = 1;
    traffic.triggers[1].kind = TrafficTrigger::Kind::kBarrier;
    traffic.triggers[1].count = 2;
    traffic.triggers[1].flows = {2};
    traffic.flows[0].when_received = 0;
    traffic.flows[1].when_received = 1;
    traffic.flows[2].trigger = 1;
    const auto report =
        RunPacketTraffic({router, {}, TransportUnder("none", "", k100Gb)}, traffic, *placement, {});
    ASSERT_TRUE(report.has_value());
    const auto& flows = report->flows;
    EXPECT_EQ(flows[2].posted, std::max(flows[0].delivered, flows[1].delivered));
  }
}

// --- Kinds of flows in a workload ---------------------------------------------------------------

TEST(TrafficFlows, TakeTheirLoneTimeReadOrRaw) {
  const Fabric fabric = Crossbar(3, k100Gb, Time::Microseconds(1));
  const Router router(fabric, {.policy = RoutingPolicy::kEcmp});
  const auto placement = PackedPlacement(fabric, 3);
  ASSERT_TRUE(placement.has_value());
  SwitchModel switches;
  switches.marking = MarkingCurve{Bytes(0), Bytes(1), 1};
  PacketTransport transport = TransportUnder("dctcp", "", k100Gb, {{"initial_window", 0.01}});
  TrafficFlow flow;
  flow.source = RankId{0};
  flow.destination = RankId{1};
  flow.bytes = Bytes(1'000'000);
  for (const bool read : {false, true}) {
    flow.raw = true;
    flow.read = read;
    TrafficWorkload traffic;
    traffic.ranks = 3;
    traffic.flows = {flow};
    const auto raw = RunPacketTraffic({router, switches, transport}, traffic, *placement, {});
    ASSERT_TRUE(raw.has_value());
    const Time request = (Time::Microseconds(1) + TransferTime(Bytes(84), k100Gb)) * 2;
    EXPECT_EQ(raw->flows[0].delivered, raw->flows[0].alone);
    EXPECT_EQ(raw->flows[0].delivered,
              Time::Microseconds(2) + TransferTime(Bytes(1'000'000 + 245 * 82), k100Gb) +
                  TransferTime(Bytes(576 + 82), k100Gb) + (read ? request : Time()) +
                  TransferTime(Bytes(4096 - 576), k100Gb));
    traffic.flows[0].raw = false;
    const auto controlled =
        RunPacketTraffic({router, switches, transport}, traffic, *placement, {});
    ASSERT_TRUE(controlled.has_value());
    EXPECT_GT(controlled->flows[0].delivered, raw->flows[0].delivered);
  }
}

// --- Many flows on one bottleneck ---------------------------------------------------------------

struct Shared {
  std::vector<double> share;  // of each flow, of the bottleneck's payload rate, in the second half
  double mean_queue = 0;      // bytes at the bottleneck, of samples in the second half
  double most_queue = 0;
  PacketCounters counters;
};

Shared RunIncast(std::uint32_t flows, Rate rate, const SwitchModel& switches,
                 const PacketTransport& transport, Time until) {
  TestNetwork network(Crossbar(flows + 1, rate, Time::Microseconds(1)), switches, transport);
  for (std::uint32_t i = 0; i < flows; ++i) {
    network.shard.Post(network.Connect(i, flows), std::int64_t{1} << 34);
  }
  const Time half = Time::Picoseconds(until.ps() / 2);
  network.Run(half);
  std::vector<std::uint32_t> before;
  for (std::uint32_t i = 0; i < flows; ++i) {
    before.push_back(network.plant.receivers[i].received);
  }
  constexpr int kSamples = 400;
  Shared out;
  const Port& bottleneck = network.plant.ports[network.links[0].back()];
  for (int i = 1; i <= kSamples; ++i) {
    const Time at = half + Time::Picoseconds(half.ps() / kSamples * i);
    network.Run(at);
    network.shard.CatchUpTo(at);
    out.mean_queue += static_cast<double>(bottleneck.queued_bytes) / kSamples;
    out.most_queue = std::max(out.most_queue, static_cast<double>(bottleneck.queued_bytes));
  }
  const double frame = static_cast<double>((transport.mtu + transport.packet_overhead).count());
  for (std::uint32_t i = 0; i < flows; ++i) {
    const double packets = network.plant.receivers[i].received - before[i];
    out.share.push_back(packets * frame / (rate.bytes_per_second() * half.seconds()));
  }
  out.counters = network.shard.counters();
  return out;
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// The paper's claim for its parameters: N senders share a link at C/N, which stays full, and the
// queue settles where marks balance increases, between Kmin and Kmax.
TEST(DcqcnFixedPoint, SharesALinkEvenlyWithAQueueBetweenKminAndKmax) {
  for (const std::uint32_t flows : {2U, 4U, 8U}) {
    SwitchModel switches;
    switches.marking = MarkingCurve{Bytes(5'000), Bytes(200'000), 0.01};
    const Shared shared =
        RunIncast(flows, k40Gb, switches, TransportUnder("dcqcn", "dcqcn-paper", k40Gb),
                  Time::Microseconds(200'000));
    EXPECT_GT(Sum(shared.share), 0.95) << flows;
    for (const double share : shared.share) EXPECT_NEAR(share * flows, 1, 0.2) << flows;
    EXPECT_GT(shared.mean_queue, 5'000) << flows;
    EXPECT_LT(shared.mean_queue, 200'000) << flows;
  }
}

// Receivers send a queue pair at most one CNP in 50 us.
TEST(DcqcnFixedPoint, NotificationsArePaced) {
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.marking = MarkingCurve{Bytes(0), Bytes(1), 1};
  switches.lane_buffer = Bytes(100'000);
  // Rates cannot fall below what fills the link: all packets are marked.
  const PacketTransport transport =
      TransportUnder("dcqcn", "dcqcn-paper", k40Gb, {{"min_rate", 20'000}});
  const Shared shared = RunIncast(2, k40Gb, switches, transport, Time::Microseconds(2'000));
  EXPECT_GE(shared.counters.packets.control, 2U * (2'000 / 50 - 4));
  EXPECT_LE(shared.counters.packets.control, 2U * (2'000 / 50 + 1));
}

// At 1 Mb/s a packet takes 33 ms. Whoever was cut so far still rises with its timer: from the
// floor, after five halvings that gain 1 Mb/s in all, by half of 40, 80, … Mb/s every 55 us.
TEST(DcqcnFixedPoint, SlowSendersRiseWithTheirTimer) {
  TestNetwork network(Crossbar(2, k40Gb, Time::Microseconds(1)), {},
                      TransportUnder("dcqcn", "dcqcn-paper", k40Gb));
  const std::uint32_t qp = network.Connect(0, 1);
  network.shard.Post(qp, 4'096);
  network.Run();
  const CongestionPolicy& policy = network.plant.transport.policy;
  for (int i = 0; i < 40; ++i) {
    policy.on_notification(network.plant.transport.policy_parameters.get(), network.plant.paths[qp],
                           network.shard.now(), network.plant.senders[qp].control);
  }
  ASSERT_EQ(network.plant.senders[qp].control.rate, 1e6);
  const Time cut = network.shard.now();
  network.shard.Post(qp, 41'000);
  network.Run();
  ASSERT_EQ(network.delivered[qp].size(), 2U);
  // 331 kb at a rate that is below 40 Mb/s x (n - 5) after n intervals takes more than 14 of them…
  EXPECT_GT(network.delivered[qp][1] - cut, Time::Microseconds(14 * 55));
  // …and with one above 20 Mb/s x (n - 6) less than 40.
  EXPECT_LT(network.delivered[qp][1] - cut, Time::Microseconds(40 * 55));
}

struct Settled {
  const char* policy;
  std::vector<CongestionOverride> overrides;
  double least_use;
  double unfairness;  // of each flow, from an even share of what is used
  double queue;       // bytes, on the average at most
};

// Four flows on a link of 100 Gb/s, whose round trip without queues is 4.7 us. DCTCP's queue stays
// about its threshold of 300 KB, a packet a flow above it; HPCC's is a packet a flow, with its
// telemetry, and flows of 3 and of 4 whole packets may be as fair as it gets: 1/7 off; Swift's
// delay stays about its target, 20 + 2 x 3.05 us and 3.5 us for windows of some 23 packets,
// TIMELY's below its high threshold, where it grows only while delays fall; NSCC's queue ends below
// its Kmax.
TEST(Bottleneck, StaysFullAndSharedWithAShortQueue) {
  const std::vector<Settled> cases = {{"dctcp", {}, 0.99, 0.1, 300'000 + 4 * 4'178},
                                      {"hpcc", {}, 0.93, 0.15, 4 * 4'220},
                                      {"swift", {}, 0.99, 0.1, 12'500 * (20 + 2 * 3.05 + 3.5)},
                                      {"timely", {}, 0.90, 0.2, 12'500 * 500},
                                      {"nscc", {}, 0.99, 0.2, 143'360}};
  for (const Settled& each : cases) {
    const auto control = MakeCongestionControl(each.policy, "", each.overrides, k100Gb);
    ASSERT_TRUE(control.has_value());
    SwitchModel switches;
    switches.marking = control->marking;
    const Shared shared =
        RunIncast(4, k100Gb, switches, TransportUnder(each.policy, "", k100Gb, each.overrides),
                  Time::Microseconds(20'000));
    EXPECT_GT(Sum(shared.share), each.least_use) << each.policy;
    EXPECT_LT(shared.mean_queue, each.queue) << each.policy;
    for (const double share : shared.share) {
      EXPECT_NEAR(share * 4 / Sum(shared.share), 1, each.unfairness) << each.policy;
    }
  }
}

}  // namespace
}  // namespace trunkline
