#include <cmath>

#include "base/test_units.h"
#include "engine/packet/test_network.h"
#include "trunkline/transport/socket_model.h"

// TCP through the kernel: cores, windows and losses.
namespace trunkline {
namespace {

PacketTransport Tcp() {
  PacketTransport transport = DefaultPacketTransport(DefaultTransport(TransportKind::kTcp));
  const auto cubic = MakeCongestionControl("cubic", "", {}, k100Gb);
  EXPECT_TRUE(cubic.has_value());
  Adopt(*cubic, transport);
  return transport;
}

SwitchModel LossySwitches() {
  SwitchModel switches;
  switches.loss_control = LossControl::kLossy;
  return switches;
}

Fabric Star(Time cable = Time::Microseconds(1)) {
  return FabricOf("single-switch:nodes=8,link=100Gb/s", cable);
}

double Gigabits(std::int64_t bytes, Time time) {
  return static_cast<double>(bytes) * 8e-9 / time.seconds();
}

// Cai et al., SIGCOMM 2021: a core receives 42 Gb/s of a long flow on a link of 100.
TEST(Sockets, ALongFlowGetsWhatOneCoreReceives) {
  TestNetwork network(Star(), LossySwitches(), Tcp());
  const std::int64_t bytes = 1'000'000'000;
  network.shard.Post(network.Connect(0, 1), bytes);
  network.Run();
  ASSERT_EQ(network.delivered[0].size(), 1U);
  EXPECT_NEAR(Gigabits(bytes, network.delivered[0][0]), 42, 0.42);
  EXPECT_EQ(network.shard.counters().retransmissions, 0U);
}

// One pass at the sender, the wire, one pass at the receiver: to the picosecond.
TEST(Sockets, ASegmentTakesAPassAtEitherEndAndTheWire) {
  const SocketModel sockets = DefaultSockets();
  for (const std::int64_t bytes : {0, 1, 1460, 8948}) {
    TestNetwork network(Star(), LossySwitches(), Tcp());
    network.shard.Post(network.Connect(0, 1), bytes);
    network.Run();
    const Time wire = TransferTime(Bytes(bytes + 90), k100Gb) * 2 + Time::Microseconds(2);
    EXPECT_EQ(network.delivered[0][0],
              sockets.send.Of(Bytes(bytes)) + wire + sockets.receive.Of(Bytes(bytes)));
    EXPECT_EQ(network.delivered[0][0], LoneTime(network.plant, network.links[0], Bytes(bytes)));
  }
}

// The core's own time: 5 us before each message's copy, one message after the other.
TEST(Sockets, TheOverheadOfAMessageComesBeforeItsCopy) {
  const SocketModel sockets = DefaultSockets();
  PacketTransport transport = Tcp();
  transport.message_overhead = Time::Microseconds(5);
  TestNetwork network(Star(), LossySwitches(), transport);
  const std::uint32_t connection = network.Connect(0, 1);
  for (int i = 0; i < 2; ++i) network.shard.Post(connection, 1460);
  network.Run();
  const Time before = Time::Microseconds(5) + sockets.send.Of(Bytes(1460));
  const Time after = TransferTime(Bytes(1550), k100Gb) * 2 + Time::Microseconds(2) +
                     sockets.receive.Of(Bytes(1460));
  ASSERT_EQ(network.delivered[0].size(), 2U);
  EXPECT_EQ(network.delivered[0][0], before + after);
  EXPECT_EQ(network.delivered[0][1], before * 2 + after);
  EXPECT_EQ(network.delivered[0][0], LoneTime(network.plant, network.links[0], Bytes(1460)));
}

TEST(Sockets, NoLoneMessageBeatsItsClosedForm) {
  for (const std::int64_t overhead : {0, 1, 1000}) {  // us; copies take a few
    PacketTransport transport = Tcp();
    transport.message_overhead = Time::Microseconds(overhead);
    for (std::int64_t bytes = 1; bytes < 20'000'000; bytes = bytes * 3 + 1) {
      TestNetwork network(Star(), LossySwitches(), transport);
      network.shard.Post(network.Connect(0, 1), bytes);
      network.Run();
      const Time alone = LoneTime(network.plant, network.links[0], Bytes(bytes));
      EXPECT_GE(network.delivered[0][0], alone) << bytes << " B after " << overhead << " us";
      EXPECT_LE(network.delivered[0][0], alone * 2) << bytes << " B after " << overhead << " us";
    }
  }
}

// A kernel of no cost on a long wire: the window of ten segments doubles every round trip.
TEST(Sockets, SlowStartTakesTheRoundsOfTheRfc) {
  PacketTransport transport = Tcp();
  transport.sockets->send = {Time(), Rate::GigabitsPerSecond(1'000'000)};
  transport.sockets->receive = transport.sockets->send;
  transport.sockets->window = Bytes(std::int64_t{1} << 30);
  const Time cable = Time::Microseconds(1000);
  const double round_trip = 4 * cable.seconds();
  for (int rounds = 1; rounds <= 6; ++rounds) {
    for (const std::int64_t segments : {10 * (1 << (rounds - 1)) - 9, 10 * ((1 << rounds) - 1)}) {
      TestNetwork network(Star(cable), LossySwitches(), transport);
      network.shard.Post(network.Connect(0, 1), segments * 8948);
      network.Run();
      const double expected = (rounds - 0.5) * round_trip;
      EXPECT_NEAR(network.delivered[0][0].seconds(), expected, 0.1 * round_trip)
          << rounds << " rounds, " << segments << " segments";
      if (rounds == 1) break;
    }
  }
}

// A socket holds 3 MiB: a window every round trip.
TEST(Sockets, TheSocketsBufferBoundsAFlowOnALongWire) {
  PacketTransport transport = Tcp();
  TestNetwork network(Star(Time::Microseconds(1000)), LossySwitches(), transport);
  const std::int64_t bytes = 300'000'000;
  network.shard.Post(network.Connect(0, 1), bytes);
  network.Run();
  const double window = std::floor(3.0 * (1 << 20) / 8948) * 8948;
  EXPECT_NEAR(Gigabits(bytes, network.delivered[0][0]), window * 8e-9 / 4e-3, 0.5);
}

TEST(Sockets, ConnectionsShareACoreAndHaveTheirOwnWhereThereAreTwo) {
  const std::int64_t bytes = 100'000'000;
  for (const std::uint16_t cores : {std::uint16_t{1}, std::uint16_t{2}}) {
    PacketTransport transport = Tcp();
    transport.sockets->cores = cores;
    TestNetwork network(Star(), LossySwitches(), transport);
    for (const std::uint32_t from : {0U, 1U}) network.shard.Post(network.Connect(from, 2), bytes);
    network.Run();
    for (const std::uint32_t qp : {0U, 1U}) {
      EXPECT_NEAR(Gigabits(bytes, network.delivered[qp][0]), 21.0 * cores, 1.0);
    }
  }
}

// Two flows into one port with a shallow queue: losses are found by three later segments and
// repeated long before the timer of 200 ms.
TEST(Sockets, LossesAreRepeatedWithoutTheTimer) {
  SwitchModel switches = LossySwitches();
  switches.queue = Bytes(200'000);
  PacketTransport transport = Tcp();
  TestNetwork network(FabricOf("single-switch:nodes=8,link=40Gb/s", Time::Microseconds(5)),
                      switches, transport);
  const std::int64_t bytes = 200'000'000;
  for (const std::uint32_t from : {0U, 1U}) network.shard.Post(network.Connect(from, 2), bytes);
  network.Run();
  const PacketCounters counters = network.shard.counters();
  EXPECT_GT(counters.data_drops, 0U);
  EXPECT_EQ(counters.packets.data, network.plant.receivers[0].received +
                                       network.plant.receivers[1].received + counters.refused +
                                       counters.data_drops);
  EXPECT_EQ(counters.timeouts, 0U);
  const Time last = std::max(network.delivered[0][0], network.delivered[1][0]);
  EXPECT_GT(Gigabits(2 * bytes, last), 0.85 * 40);
}

}  // namespace
}  // namespace trunkline
