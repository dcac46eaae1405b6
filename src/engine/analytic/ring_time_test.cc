#include "engine/analytic/ring_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trunkline {
namespace {

// The recurrence itself: left[i] and arrived[i] of the latest step of hop i.
double Recurrence(const std::vector<RingHop>& hops, std::uint64_t steps) {
  const std::size_t n = hops.size();
  std::vector<double> left(n, 0);
  std::vector<double> arrived(n, 0);
  for (std::uint64_t step = 0; step < steps; ++step) {
    std::vector<double> next_left(n);
    std::vector<double> next_arrived(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double ready = step == 0 ? 0 : arrived[(i + n - 1) % n];
      next_left[i] = std::max(left[i], ready) + hops[i].busy;
      next_arrived[i] = next_left[i] + hops[i].latency;
    }
    left = next_left;
    arrived = next_arrived;
  }
  return *std::ranges::max_element(arrived);
}

TEST(RingSeconds, OfAHomogeneousRingIsStepsTimesAStep) {
  const std::vector<RingHop> hops(16, {.busy = 3, .latency = 2});
  EXPECT_DOUBLE_EQ(RingSeconds(hops, 30), 30 * 5);
}

TEST(RingSeconds, StaysAtOneSlowHop) {
  std::vector<RingHop> hops(16, {.busy = 1, .latency = 0});
  hops[5].busy = 10;
  EXPECT_DOUBLE_EQ(RingSeconds(hops, 30), 300);
}

TEST(RingSeconds, MeetsTheRecurrenceOnNodesOfFastHops) {
  for (const double fast : {0.1, 1.0, 4.0, 9.0}) {
    std::vector<RingHop> hops;
    for (int node = 0; node < 8; ++node) {
      for (int hop = 0; hop < 7; ++hop) hops.push_back({.busy = fast, .latency = 3.4});
      hops.push_back({.busy = 10, .latency = 14});
    }
    for (const std::uint64_t steps : {63U, 126U}) {
      EXPECT_NEAR(RingSeconds(hops, steps), Recurrence(hops, steps), 1e-9) << fast << ' ' << steps;
    }
  }
}

TEST(RingSeconds, IsNeverAboveTheRecurrenceAndCloseToItOnRandomRings) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(0, 10);
  for (std::size_t trial = 0; trial < 500; ++trial) {
    std::vector<RingHop> hops(2 + trial % 20);
    for (RingHop& hop : hops) hop = {.busy = draw(random), .latency = draw(random)};
    const std::uint64_t steps = 2 * (hops.size() - 1);
    const double exact = Recurrence(hops, steps);
    EXPECT_LE(RingSeconds(hops, steps), exact * (1 + 1e-12));
    EXPECT_GE(RingSeconds(hops, steps), exact * 0.95);
  }
}

TEST(ChainSeconds, FillsOnceAndThenMovesAtTheBusiestHop) {
  const std::vector<RingHop> hops = {{1, 5}, {3, 5}, {2, 5}};
  EXPECT_DOUBLE_EQ(ChainSeconds(hops, 10), 6 + 15 + 9 * 3);
}

}  // namespace
}  // namespace trunkline
