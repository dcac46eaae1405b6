#include <algorithm>

#include "base/test_units.h"
#include "engine/packet/test_network.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

PacketTransport Recovering(LossRecovery recovery) {
  PacketTransport transport;
  transport.recovery = recovery;
  transport.retransmit_timeout = Time::Microseconds(100);
  return transport;
}

SwitchModel Lossy(double frame_loss) {
  SwitchModel switches;
  switches.loss_control = LossControl::kLossy;
  switches.frame_loss = frame_loss;
  return switches;
}

// Sixteen hosts send each other messages of many sizes; whatever was lost, all arrive, once.
void ExpectEveryMessageOnce(TestNetwork& network, int messages) {
  std::int64_t bytes = 0;
  std::uint64_t draws = 0;
  for (std::uint32_t host = 0; host < 16; ++host) {
    const std::uint32_t qp = network.Connect(host, (host + 5) % 16);
    for (int i = 0; i < messages; ++i) {
      const auto size = static_cast<std::int64_t>(Below(Draw(3, 0, draws++), 100'000));
      bytes += size;
      network.shard.Post(qp, size);
    }
  }
  network.Run();
  const PacketCounters counters = network.shard.counters();
  std::uint64_t received = 0;
  for (std::uint32_t qp = 0; qp < 16; ++qp) {
    EXPECT_EQ(network.delivered[qp].size(), messages);
    EXPECT_EQ(network.acknowledged[qp].size(), messages);
    EXPECT_TRUE(std::ranges::is_sorted(network.delivered[qp]));
    received += network.plant.receivers[qp].received;
  }
  EXPECT_EQ(counters.delivered_bytes, bytes);
  EXPECT_EQ(counters.failures, 0U);
  EXPECT_EQ(network.shard.packets_in_flight(), 0U);
  // Every packet sent has arrived, came in vain, lost its payload or was lost.
  EXPECT_EQ(counters.packets.data,
            received + counters.refused + counters.trims + counters.data_drops);
  EXPECT_EQ(counters.packets.data, received + counters.retransmissions);
}

class Recovery : public testing::TestWithParam<LossRecovery> {};

TEST_P(Recovery, DeliversEveryMessageOnceWhereCablesSpoilFrames) {
  TestNetwork network(FabricOf("fat-tree:k=4,link=100Gb/s", Time::Nanoseconds(500)), Lossy(0.01),
                      Recovering(GetParam()));
  ExpectEveryMessageOnce(network, 20);
  EXPECT_GT(network.shard.counters().data_drops, 50U);
}

TEST_P(Recovery, DeliversEveryMessageOnceWhereQueuesOverflow) {
  SwitchModel switches = Lossy(0);
  switches.queue = Bytes(20'000);
  TestNetwork network(FabricOf("fat-tree:k=4,link=100Gb/s", Time::Nanoseconds(500)), switches,
                      Recovering(GetParam()));
  ExpectEveryMessageOnce(network, 20);
  EXPECT_GT(network.shard.counters().data_drops, 50U);
}

TEST_P(Recovery, DeliversEveryMessageOnceWherePacketsAreTrimmed) {
  SwitchModel switches = Lossy(0.001);
  switches.queue = Bytes(20'000);
  switches.trimming = true;
  TestNetwork network(FabricOf("fat-tree:k=4,link=100Gb/s", Time::Nanoseconds(500)), switches,
                      Recovering(GetParam()));
  ExpectEveryMessageOnce(network, 20);
  EXPECT_GT(network.shard.counters().trims, 50U);
}

// Under go-back-N a poor idea, but one that ends.
TEST_P(Recovery, DeliversEveryMessageOnceWherePacketsOvertakeEachOther) {
  PacketTransport transport = Recovering(GetParam());
  transport.loss_distance = 64;
  TestNetwork network(FabricOf("fat-tree:k=4,link=100Gb/s", Time::Nanoseconds(500)), Lossy(0.001),
                      transport, RoutingPolicy::kSpray);
  ExpectEveryMessageOnce(network, 20);
  EXPECT_LT(network.shard.counters().retransmissions, 1'000'000U);
}

TEST_P(Recovery, DeliversEveryMessageOnceOverLossyLanesWithCredits) {
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.lane_buffer = Bytes(12'000);
  switches.frame_loss = 0.005;
  TestNetwork network(FabricOf("fat-tree:k=4,link=100Gb/s", Time::Nanoseconds(500)), switches,
                      Recovering(GetParam()));
  ExpectEveryMessageOnce(network, 10);
  // Nothing is on its way: all credits are back.
  for (const Lane& lane : network.plant.lanes) {
    std::uint32_t credits = lane.available;
    for (std::size_t i = lane.first; i < lane.returns.size(); ++i) {
      credits += lane.returns[i].bytes;
    }
    EXPECT_EQ(credits, 12'000U);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Recovery,
                         testing::Values(LossRecovery::kGoBackN, LossRecovery::kSelectiveRepeat));

// Every loss is learnt from the packets behind it, and nothing else is repeated.
TEST(SelectiveRepeat, RepeatsExactlyWhatWasLostOnOnePath) {
  PacketTransport transport = Recovering(LossRecovery::kSelectiveRepeat);
  transport.ack_every = 1;
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), Lossy(0.002), transport);
  const std::uint32_t qp = network.Connect(0, 1);
  network.shard.Post(qp, 40'960'000);
  network.Run();
  const PacketCounters counters = network.shard.counters();
  ASSERT_EQ(network.delivered[qp].size(), 1U);
  ASSERT_GT(counters.data_drops, 20U);
  // What was lost twice, or at the very end, waits for the timer, which repeats the window.
  EXPECT_EQ(counters.retransmissions, counters.data_drops + counters.refused);
  EXPECT_LE(counters.refused, counters.timeouts * 50);
}

TEST(SelectiveRepeat, SendsATrimmedPacketAgainWithinARoundTrip) {
  SwitchModel switches = Lossy(0);
  switches.queue = Bytes(20'000);
  switches.trimming = true;
  PacketTransport transport = TransportUnder("nscc", "", k100Gb, {{"max_window", 1}});
  transport.recovery = LossRecovery::kSelectiveRepeat;
  TestNetwork network(Crossbar(5, k100Gb, Time::Microseconds(1)), switches, transport,
                      RoutingPolicy::kSpray);
  for (std::uint32_t host = 0; host < 4; ++host) {
    network.shard.Post(network.Connect(host, 4), 1'000'000);
  }
  network.Run();
  const PacketCounters counters = network.shard.counters();
  for (const auto& times : network.delivered) EXPECT_EQ(times.size(), 1U);
  EXPECT_GT(counters.trims, 0U);
  EXPECT_EQ(counters.timeouts, 0U);
  EXPECT_EQ(counters.refused, 0U);
  EXPECT_EQ(counters.retransmissions, counters.trims);
}

// Timeouts after T, 2 T, 4 T … in a row: the queue pair fails at (2^(limit + 1) - 1) T.
TEST_P(Recovery, FailsAQueuePairWhenRetriesAreExceeded) {
  PacketTransport transport = Recovering(GetParam());
  transport.retry_limit = 3;
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), Lossy(1), transport);
  const std::uint32_t qp = network.Connect(0, 1);
  network.shard.Post(qp, 10'000);
  network.Run();
  EXPECT_EQ(network.failed[qp], Time::Microseconds(1'500));
  EXPECT_TRUE(network.delivered[qp].empty());
  EXPECT_EQ(network.shard.counters().timeouts, 4U);
  EXPECT_EQ(network.shard.counters().failures, 1U);
}

// IRN's low timeout for the last packets of a message, which nothing behind them can report.
TEST(SelectiveRepeat, WaitsLessWhereFewPacketsAreInFlight) {
  PacketTransport transport = Recovering(LossRecovery::kSelectiveRepeat);
  transport.low_timeout = Time::Microseconds(20);
  transport.retry_limit = 0;
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), Lossy(1), transport);
  const std::uint32_t few = network.Connect(0, 1);
  const std::uint32_t many = network.Connect(1, 0);
  network.shard.Post(few, 4096 * 2);
  network.shard.Post(many, 4096 * 3);
  network.Run();
  EXPECT_EQ(network.failed[few], Time::Microseconds(20));
  EXPECT_EQ(network.failed[many], Time::Microseconds(100));
}

// --- Messages -----------------------------------------------------------------------------------

TEST(Messages, WaitForTheirOverheadOneAfterTheOther) {
  PacketTransport transport;
  transport.message_overhead = Time::Microseconds(2);
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), {}, transport);
  const std::uint32_t qp = network.Connect(0, 1);
  network.shard.Post(qp, 4096);
  network.shard.Post(qp, 4096);
  network.Run();
  const Time alone = LoneTime(network.plant, network.links[qp], Bytes(4096));
  const Time frame = TransferTime(Bytes(4096 + 82), k100Gb);
  EXPECT_EQ(alone, Time::Microseconds(2 + 2) + frame * 2);
  EXPECT_EQ(network.delivered[qp][0], alone);
  EXPECT_EQ(network.delivered[qp][1], alone + frame + Time::Microseconds(2));
}

// A request of 84 B over two cables, then the data back.
TEST(Messages, AReadTakesARequestOneWayAndDataTheOther) {
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), {}, {});
  const std::uint32_t qp = network.Connect(0, 1);
  network.shard.PostRead(qp, 1'000'000);
  network.Run();
  const Time request = (Time::Microseconds(1) + TransferTime(Bytes(84), k100Gb)) * 2;
  ASSERT_EQ(network.delivered[qp].size(), 1U);
  EXPECT_EQ(network.delivered[qp][0],
            request + LoneTime(network.plant, network.links[qp], Bytes(1'000'000)));
}

TEST_P(Recovery, ReadsAreAnsweredOnceThoughRequestsAreLost) {
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), Lossy(0.2),
                      Recovering(GetParam()));
  const std::uint32_t qp = network.Connect(0, 1);
  for (int i = 0; i < 50; ++i) network.shard.PostRead(qp, 5'000);
  network.Run();
  EXPECT_EQ(network.delivered[qp].size(), 50U);
  EXPECT_EQ(network.shard.counters().delivered_bytes, 250'000);
}

// A paused class holds up its own queue pairs only, whichever are first in line.
TEST(Messages, OfAnotherClassGoOnWhileOneIsPaused) {
  SwitchModel switches;
  switches.classes = 3;
  TestNetwork network(Crossbar(2, k100Gb, Time::Microseconds(1)), switches, {});
  std::vector<std::uint32_t> qps;
  for (std::uint8_t i = 0; i < 8; ++i) {
    qps.push_back(network.Connect(0, 1));
    network.plant.senders[qps[i]].traffic_class = i % 2;
  }
  network.plant.ports[network.links[qps[0]][0]].paused = 1;
  for (const std::uint32_t qp : qps) network.shard.Post(qp, 100'000);
  network.Run();
  for (std::uint8_t i = 0; i < 8; ++i) {
    EXPECT_EQ(network.delivered[qps[i]].size(), i % 2) << "queue pair " << int{i};
  }
}

}  // namespace
}  // namespace trunkline
