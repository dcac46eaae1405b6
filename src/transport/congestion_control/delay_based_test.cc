#include <cmath>

#include "base/test_units.h"
#include "transport/congestion_control/test_flow.h"

namespace trunkline {
namespace {

// Algorithm 1 with alpha 0.875, beta 0.8, thresholds 50 and 500 us, gradients in units of 20 us and
// steps of 10 Mb/s at 10 Gb/s.
TEST(Timely, FollowsTheGradientBetweenItsThresholds) {
  TestFlow flow("timely", "timely", Rate::GigabitsPerSecond(10));
  flow.in_flight = 0;
  flow.Ack(Us(100), Us(60));  // the first sample has no gradient
  EXPECT_EQ(flow.flow.rate, 10e9);
  flow.Ack(Us(200), Us(64));
  const double first = 10e9 * (1 - 0.8 * (0.875 * 4 / 20));
  EXPECT_NEAR(flow.flow.rate, first, 1);
  flow.Ack(Us(300), Us(60));  // falling: 0.125 x 3.5 - 0.875 x 4 < 0
  EXPECT_NEAR(flow.flow.rate, first + 10e6, 1);
}

TEST(Timely, IncreasesBelowTheLowThresholdAndDecreasesAboveTheHighOne) {
  TestFlow flow("timely", "timely", Rate::GigabitsPerSecond(10));
  flow.in_flight = 0;
  flow.Ack(Us(100), Us(1000));
  flow.Ack(Us(200), Us(1000));
  const double cut = 10e9 * (1 - 0.8 * (1 - 0.5));
  EXPECT_NEAR(flow.flow.rate, cut, 1);
  flow.Ack(Us(300), Us(49));
  EXPECT_NEAR(flow.flow.rate, cut + 10e6, 1);
}

TEST(Timely, IncreasesFivefoldAfterFiveFallingRoundTrips) {
  TestFlow flow("timely", "timely", Rate::GigabitsPerSecond(10));
  flow.in_flight = 0;
  flow.Ack(Us(10), Us(1000));
  flow.Ack(Us(20), Us(1000));
  double before = 0;
  for (int i = 0; i < 5; ++i) {
    before = flow.flow.rate;
    flow.Ack(Us(30 + 10 * i), Us(400 - i));
  }
  EXPECT_NEAR(flow.flow.rate - before, 50e6, 1);
}

// HPCC's simulator: the sixth increase in a row is fivefold, below the low threshold too.
TEST(Timely, IncreasesFivefoldAfterFiveIncreasesInThatPresetOfHpccsSimulator) {
  TestFlow flow("timely", "timely-window", Rate::GigabitsPerSecond(10));
  flow.in_flight = 0;
  flow.Ack(Us(10), Us(1000));
  flow.Ack(Us(20), Us(1000));
  const double cut = flow.flow.rate;
  for (int i = 0; i < 5; ++i) flow.Ack(Us(30 + 10 * i), Us(40));
  EXPECT_NEAR(flow.flow.rate - cut, 5 * 10e6, 1);
  flow.Ack(Us(80), Us(41));
  EXPECT_NEAR(flow.flow.rate - cut, 5 * 10e6 + 50e6, 1);
}

TEST(Timely, ReactsOnceARoundTrip) {
  TestFlow flow("timely", "timely", Rate::GigabitsPerSecond(10));
  flow.in_flight = 4;
  flow.Ack(Us(1), Us(1000));
  flow.Ack(Us(2), Us(1000));
  flow.Ack(Us(3), Us(1000));
  EXPECT_EQ(flow.flow.rate, 10e9);
  flow.Ack(Us(4), Us(1000), 2);
  EXPECT_LT(flow.flow.rate, 10e9);
}

// Target of a path of four links and a window of 125 packets, beyond fs_max: 20 + 4 x 20/6.55 us.
TEST(Swift, GrowsByAPacketARoundTripBelowTheTarget) {
  TestFlow flow("swift", "swift", Rate::GigabitsPerSecond(100));
  EXPECT_EQ(flow.flow.window, 125'000);
  flow.Ack(Us(10), Us(32), 5);
  EXPECT_EQ(flow.flow.window, static_cast<std::int64_t>(1000 * (125 + 5.0 / 125)));
}

TEST(Swift, ShrinksByTheExcessOnceARoundTrip) {
  TestFlow flow("swift", "swift", Rate::GigabitsPerSecond(100));
  const double target = 20 + 4 * 3.0534351;
  flow.Ack(Us(100), Us(40));
  const double once = 125'000 * (1 - 0.8 * (40 - target) / 40);
  EXPECT_NEAR(static_cast<double>(flow.flow.window), once, 1);
  flow.Ack(Us(139), Us(40));
  EXPECT_NEAR(static_cast<double>(flow.flow.window), once, 1);
  flow.Ack(Us(1'100), Us(1'000));  // at most max_mdf
  EXPECT_NEAR(static_cast<double>(flow.flow.window), once / 2, 1);
}

// At a hundredth of a packet a round trip of 100 us, a packet leaves every 10 ms.
TEST(Swift, PacesWhenTheWindowIsLessThanAPacket) {
  TestFlow flow("swift", "swift", Rate::GigabitsPerSecond(100));
  flow.Ack(Us(100), Us(100));
  for (int i = 0; i < 5; ++i) flow.Lose(Us(1'000 * (i + 1)), true, false);
  EXPECT_EQ(flow.flow.window, 1000);
  EXPECT_NEAR(flow.flow.rate, 8000 / 10e-3, 1);
}

// The target grows by fs_range as the window falls to fs_min, in proportion to 1/sqrt(window).
TEST(Swift, AllowsSmallWindowsLongerDelays) {
  TestFlow flow("swift", "swift", Rate::GigabitsPerSecond(100), {{"initial_window", 0.008}});
  ASSERT_EQ(flow.flow.window, 1000);
  const double scale = 100 / (1 / std::sqrt(0.1) - 0.1);
  const double target = 20 + 4 * 3.0534351 + scale * (1 - 0.1);
  flow.Ack(Us(10), Time::Picoseconds(static_cast<std::int64_t>((target - 0.01) * 1e6)));
  EXPECT_EQ(flow.flow.window, 2000);
}

}  // namespace
}  // namespace trunkline
