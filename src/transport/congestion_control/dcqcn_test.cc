#include "transport/congestion_control/dcqcn.h"

#include <cmath>

#include "transport/congestion_control/test_flow.h"

namespace trunkline {
namespace {

constexpr double kG = 1e9;
constexpr Rate k40Gb = Rate::GigabitsPerSecond(40);

double Alpha(TestFlow& flow) { return flow.flow.state<congestion::Dcqcn::State>().alpha; }

// Equation 1 of the paper with alpha = 1, then equation 2; cuts are what CNPs 50 us apart cause.
TEST(Dcqcn, CutsByHalfOfAlphaAndRemembersTheRateBefore) {
  TestFlow flow("dcqcn", "dcqcn-paper", k40Gb);
  EXPECT_EQ(flow.flow.rate, 40 * kG);
  flow.Notify(Time::Microseconds(0));
  EXPECT_EQ(flow.flow.rate, 20 * kG);
  flow.Notify(Time::Microseconds(50));
  EXPECT_EQ(flow.flow.rate, 10 * kG);
  EXPECT_EQ(Alpha(flow), 1);  // (1 - g) 1 + g
}

// After the cut at 50 us the timer runs out every 55 us: five halvings of the way back to 20 Gb/s,
// then the target rises by 40 Mb/s each time.
TEST(Dcqcn, RecoversInFiveHalvingsAndThenAdditively) {
  TestFlow flow("dcqcn", "dcqcn-paper", k40Gb);
  flow.Notify(Time::Microseconds(0));
  flow.Notify(Time::Microseconds(50));
  const double expected[] = {15, 17.5, 18.75, 19.375, 19.6875, (19.6875 + 20.04) / 2};
  for (int i = 0; i < 6; ++i) {
    const Time due = Time::Microseconds(50 + 55 * (i + 1));
    flow.Send(due - Time::Picoseconds(1));
    EXPECT_NEAR(flow.flow.rate, (i == 0 ? 10 : expected[i - 1]) * kG, 1);
    flow.Send(due);
    EXPECT_NEAR(flow.flow.rate, expected[i] * kG, 1);
  }
  EXPECT_NEAR(Alpha(flow), std::pow(255.0 / 256, 6), 1e-12);
}

TEST(Dcqcn, CatchesUpWithTimersAsIfItHadHeardEach) {
  TestFlow one("dcqcn", "dcqcn-paper", k40Gb);
  TestFlow other("dcqcn", "dcqcn-paper", k40Gb);
  one.Notify(Time::Microseconds(3));
  other.Notify(Time::Microseconds(3));
  for (int us = 10; us <= 3'000; us += 7) one.Send(Time::Microseconds(us), 0);
  one.Send(Time::Microseconds(3'000), 0);
  other.Send(Time::Microseconds(3'000), 0);
  EXPECT_DOUBLE_EQ(one.flow.rate, other.flow.rate);
  EXPECT_NEAR(Alpha(one), Alpha(other), 1e-12);
}

TEST(Dcqcn, TheByteCounterRaisesTheRateWithoutTheTimer) {
  TestFlow flow("dcqcn", "dcqcn-paper", k40Gb);
  flow.Notify(Time());
  for (int i = 0; i < 9'999; ++i) flow.Send(Time());
  EXPECT_EQ(flow.flow.rate, 20 * kG);
  flow.Send(Time());  // 10 MB
  EXPECT_EQ(flow.flow.rate, 30 * kG);
}

// Both stages beyond five: hyper increase by 200 Mb/s.
TEST(Dcqcn, IncreasesFasterOnceTimerAndByteCounterHaveBothRunLong) {
  TestFlow flow("dcqcn", "dcqcn-paper", k40Gb);
  flow.Notify(Time());
  flow.Notify(Time::Microseconds(1));
  for (int i = 0; i < 6; ++i) flow.Send(Time::Microseconds(1), 10'000'000);
  flow.Send(Time::Microseconds(1 + 6 * 55), 0);
  const double target = flow.flow.state<congestion::Dcqcn::State>().target;
  flow.Send(Time::Microseconds(1 + 7 * 55), 0);
  EXPECT_NEAR(flow.flow.state<congestion::Dcqcn::State>().target - target, 200e6, 1);
}

// The simulator's rules: marks on acknowledgements, a cut at most every 4 us, and a target that
// stays where the first of several cuts found it.
TEST(Dcqcn, FollowsTheRulesOfHpccsSimulatorInThatPreset) {
  TestFlow flow("dcqcn", "dcqcn-ns3", Rate::GigabitsPerSecond(100));
  flow.Ack(Time::Microseconds(1), Time::Microseconds(10), 1, 1);
  EXPECT_EQ(flow.flow.rate, 50 * kG);
  flow.Ack(Time::Microseconds(2), Time::Microseconds(10), 1, 1);
  EXPECT_EQ(flow.flow.rate, 50 * kG);
  flow.Send(Time::Microseconds(5));
  const double alpha = std::pow(255.0 / 256, 2);  // two intervals of 1 us without a mark
  EXPECT_DOUBLE_EQ(flow.flow.rate, 50 * kG * (1 - alpha / 2));
  flow.Send(Time::Microseconds(305));
  EXPECT_DOUBLE_EQ(flow.flow.rate, (50 * kG * (1 - alpha / 2) + 100 * kG) / 2);
}

// Its timer of 4 us begins with the first mark: cuts at 5 us and, for the mark at 6.5 us, at 9 us;
// for that at 22 us at 25 us. Alpha decays every microsecond that had no mark but the first.
TEST(Dcqcn, CutsByATimerInTheWindowedPresetOfHpccsSimulator) {
  TestFlow flow("dcqcn", "dcqcn-ns3-window", Rate::GigabitsPerSecond(100));
  const auto rate_at = [&](std::int64_t ns) {
    flow.Send(Time::Nanoseconds(ns), 0);
    return flow.flow.rate / kG;
  };
  const auto mark_at = [&](std::int64_t ns) {
    flow.Ack(Time::Nanoseconds(ns), Time::Microseconds(10), 1, 1);
  };
  constexpr double kDecay = 255.0 / 256;
  mark_at(1'000);
  EXPECT_EQ(rate_at(4'999), 100);
  double alpha = std::pow(kDecay, 4);
  double rate = 100 * (1 - alpha / 2);
  EXPECT_DOUBLE_EQ(rate_at(5'000), rate);
  mark_at(6'500);
  EXPECT_DOUBLE_EQ(rate_at(8'999), rate);
  alpha = (kDecay * alpha * kDecay + 1.0 / 256) * std::pow(kDecay, 2);
  rate *= 1 - alpha / 2;
  EXPECT_NEAR(rate_at(9'000), rate, 1e-9);
  mark_at(22'000);
  EXPECT_NEAR(rate_at(24'999), rate, 1e-9);
  EXPECT_LT(rate_at(25'000), rate * 0.7);
}

TEST(Dcqcn, NeverLeavesTheRangeFromItsFloorToTheLineRate) {
  TestFlow flow("dcqcn", "dcqcn-paper", k40Gb);
  for (int i = 0; i < 100; ++i) flow.Notify(Time::Microseconds(i));
  EXPECT_EQ(flow.flow.rate, 1e6);
  flow.Send(Time::Microseconds(10'000'000));
  EXPECT_EQ(flow.flow.rate, 40 * kG);
}

}  // namespace
}  // namespace trunkline
