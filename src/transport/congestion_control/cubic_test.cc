#include <cmath>

#include "base/test_units.h"
#include "transport/congestion_control/test_flow.h"

namespace trunkline {
namespace {

// Packets of 1,000 B.
double PacketsOfWindow(const TestFlow& flow) {
  return static_cast<double>(flow.flow.window) / 1000;
}

// A flow whose window is always filled.
void AckFilled(TestFlow& flow, Time now, std::uint32_t packets) {
  flow.in_flight = static_cast<std::uint32_t>(PacketsOfWindow(flow)) - packets;
  flow.Ack(now, Us(10), packets);
}

// RFC 5681, section 3.1: a packet for every one acknowledged, so twice as many each round trip.
TEST(Cubic, DoublesItsWindowEachRoundTripOfSlowStart) {
  TestFlow flow("cubic", "cubic", k100Gb);
  EXPECT_EQ(PacketsOfWindow(flow), 10);
  for (int round = 1; round <= 4; ++round) {
    const auto packets = static_cast<std::uint32_t>(PacketsOfWindow(flow));
    for (std::uint32_t i = 0; i < packets / 2; ++i) {
      flow.in_flight = packets - 2;
      flow.Ack(Us(10 * round), Us(10), 2);
    }
    EXPECT_EQ(PacketsOfWindow(flow), 10 * std::pow(2, round));
  }
}

TEST(Cubic, DoesNotGrowAWindowThatItsSenderDoesNotFill) {
  TestFlow flow("cubic", "cubic", k100Gb);
  flow.in_flight = 1;
  for (int i = 0; i < 20; ++i) flow.Ack(Us(10 * i), Us(10), 2);
  EXPECT_EQ(PacketsOfWindow(flow), 10);
}

// RFC 9438, sections 4.2 and 4.6: W(t) = C (t - K)^3 + W_max, K = cbrt(W_max (1 - beta) / C); it is
// back at W_max after K.
TEST(Cubic, IsBackAtTheLastMaximumAfterTheTimeOfTheRfc) {
  TestFlow flow("cubic", "cubic", k100Gb, {{"initial_window", 1000}});
  flow.acked = 1;
  flow.in_flight = 1000;
  flow.Lose(Us(0), false, false);
  EXPECT_EQ(PacketsOfWindow(flow), 700);
  const double k = std::cbrt(1000 * 0.3 / 0.4);  // 9.09 s
  flow.acked += 1000;                            // recovery is over
  const auto wait = [&](double from, double to) {
    for (double at = from; at < to; at += 0.01) {
      AckFilled(flow, Time::Picoseconds(static_cast<std::int64_t>(at * 1e12)), 100);
    }
  };
  wait(0, k / 2);
  EXPECT_NEAR(PacketsOfWindow(flow), 0.4 * std::pow(k / 2 - k, 3) + 1000, 10);
  wait(k / 2, k);
  EXPECT_NEAR(PacketsOfWindow(flow), 1000, 10);
}

TEST(Cubic, CutsItsWindowOnceForAllLossesOfAWindow) {
  TestFlow flow("cubic", "cubic", k100Gb, {{"initial_window", 100}});
  flow.in_flight = 100;
  flow.Lose(Us(0), false, false);
  flow.acked += 50;  // of the 100 under way
  flow.Lose(Us(5), false, false);
  EXPECT_EQ(PacketsOfWindow(flow), 70);
  flow.acked += 50;
  flow.Lose(Us(10), false, false);
  EXPECT_EQ(PacketsOfWindow(flow), 49);
}

TEST(Cubic, StartsFromOnePacketAfterATimeout) {
  TestFlow flow("cubic", "cubic", k100Gb, {{"initial_window", 100}});
  flow.Lose(Us(0), true, false);
  EXPECT_EQ(PacketsOfWindow(flow), 1);
  // Slow start to 70, beta of what the window was.
  flow.acked += 100;
  for (int i = 0; i < 200; ++i) AckFilled(flow, Us(i), 1);
  EXPECT_GE(PacketsOfWindow(flow), 70);
  EXPECT_LT(PacketsOfWindow(flow), 76);
}

// RFC 9438, section 4.8: after a timeout K is 0 and W_max the window where congestion avoidance
// begins, so W(t) = W_max + C t^3. From the maximum of before, W(6 s) would be 988.
TEST(Cubic, ForgetsTheLastMaximumAfterATimeout) {
  TestFlow flow("cubic", "cubic", k100Gb, {{"initial_window", 1000}});
  flow.Lose(Us(0), true, false);
  flow.acked += 1000;
  Time now;
  for (; PacketsOfWindow(flow) < 700; now += Us(1)) AckFilled(flow, now, 1);
  const Time begin = now;
  for (; now - begin < Time::Microseconds(6'000'000); now += Us(10'000)) {
    AckFilled(flow, now, 100);
  }
  EXPECT_NEAR(PacketsOfWindow(flow), 700 + 0.4 * std::pow(6, 3), 5);
}

// RFC 5681: half of the window, then a packet a round trip.
TEST(NewReno, HalvesItsWindowAndGrowsByAPacketARoundTrip) {
  TestFlow flow("cubic", "newreno", k100Gb, {{"initial_window", 100}});
  flow.in_flight = 100;
  flow.Lose(Us(0), false, false);
  EXPECT_EQ(PacketsOfWindow(flow), 50);
  flow.acked += 100;
  for (int round = 1; round <= 10; ++round) {
    const double before = PacketsOfWindow(flow);
    for (int i = 0; i < before; ++i) AckFilled(flow, Us(10 * round), 1);
    EXPECT_NEAR(PacketsOfWindow(flow), 50 + round, 1);
  }
}

}  // namespace
}  // namespace trunkline
