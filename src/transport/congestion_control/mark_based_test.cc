#include <vector>

#include "base/test_units.h"
#include "transport/congestion_control/nscc.h"
#include "transport/congestion_control/test_flow.h"

namespace trunkline {
namespace {

double Window(const TestFlow& flow) { return static_cast<double>(flow.flow.window); }

// alpha = g after a window with all its packets marked, and the window shrinks by alpha / 2, once.
TEST(Dctcp, ShrinksByHalfTheSmoothedShareOfMarks) {
  TestFlow flow("dctcp", "dctcp", k100Gb);
  flow.in_flight = 4;
  EXPECT_EQ(flow.flow.window, 125'000);
  flow.Ack(Us(10), Us(10), 4, 4);
  EXPECT_NEAR(Window(flow), 125'000 * (1 - 0.0625 / 2), 1);
  flow.Ack(Us(11), Us(10), 2, 2);
  EXPECT_NEAR(Window(flow), 125'000 * (1 - 0.0625 / 2), 1);
  // The next window of data: a half of its packets marked.
  flow.Ack(Us(20), Us(10), 2, 0);
  const double alpha = 0.9375 * 0.0625 + 0.0625 * 0.5;
  const double grown = 125'000 * (1 - 0.0625 / 2) + 1000 * 2000 / (125'000 * (1 - 0.0625 / 2));
  flow.Ack(Us(21), Us(10), 1, 1);
  EXPECT_NEAR(Window(flow), grown * (1 - alpha / 2), 1);
}

// With an alpha of 1, as Linux begins with, the first mark halves the window, and no other does
// until what is sent from then on is acknowledged.
TEST(Dctcp, HalvesTheWindowAtTheFirstMarkAndThenWaitsARoundTrip) {
  TestFlow flow("dctcp", "dctcp", k100Gb, {{"initial_alpha", 1}});
  flow.Ack(Us(10), Us(10), 1, 1);
  EXPECT_NEAR(Window(flow), 62'500, 1);
  flow.in_flight = 0;
  flow.Ack(Us(19), Us(10), 9, 9);
  EXPECT_NEAR(Window(flow), 62'500, 1);
  flow.Ack(Us(20), Us(10), 1, 1);
  EXPECT_NEAR(Window(flow), 31'250, 1'000);
}

// HPCC's simulator: rates, 615 Mb/s a round trip but not in that of a reduction, 1 Gb/s at least.
TEST(Dctcp, IsARateInThatPresetOfHpccsSimulator) {
  TestFlow flow("dctcp", "dctcp-ns3", k100Gb);
  flow.Ack(Us(10), Us(10), 1, 1);
  EXPECT_NEAR(flow.flow.rate, 50e9, 1e3);
  EXPECT_NEAR(Window(flow), 62'500, 1);  // in proportion
  flow.Ack(Us(20), Us(10), 10, 0);
  EXPECT_NEAR(flow.flow.rate, 50e9 + 615e6, 1e3);
  flow.Ack(Us(21), Us(10), 1, 0);  // within the next round trip
  EXPECT_NEAR(flow.flow.rate, 50e9 + 615e6, 1e3);
  flow.in_flight = 0;
  for (int i = 0; i < 100; ++i) flow.Ack(Us(30 + 10 * i), Us(10), 11, 11);
  EXPECT_NEAR(flow.flow.rate, 1e9, 1e3);
}

TEST(Dctcp, GrowsByAPacketARoundTripWithoutMarks) {
  TestFlow flow("dctcp", "dctcp", k100Gb);
  for (int i = 0; i < 125; ++i) flow.Ack(Us(10), Us(10));
  EXPECT_NEAR(Window(flow), 126'000, 5);
}

// Lines 1 to 21 of algorithm 1 for one link of 100 Gb/s that was busy all of the base round trip
// and has a queue of half of what it carries in it: u = 0.5 + 1, and the window shrinks to eta / u.
TEST(Hpcc, SetsTheWindowByTheBusiestLink) {
  TestFlow flow("hpcc", "hpcc", k100Gb);
  EXPECT_EQ(flow.flow.window, 125'000);
  const std::vector<TelemetryHop> before = {{Us(0), 0, 62'500, k100Gb}, {Us(0), 0, 0, k100Gb}};
  const std::vector<TelemetryHop> now = {{Us(10), 125'000, 70'000, k100Gb},
                                         {Us(10), 25'000, 0, k100Gb}};
  flow.Ack(Us(10), Us(10), 1, 0, before);
  EXPECT_EQ(flow.flow.window, 125'000);  // one look does not make a rate
  flow.Ack(Us(20), Us(10), 1, 0, now, before);
  const double additive = 40e6 / 8 * 10e-6;  // 10 Mb/s at 25 Gb/s
  EXPECT_NEAR(Window(flow), 125'000 / (1.5 / 0.95) + additive, 1);
  EXPECT_NEAR(flow.flow.rate, Window(flow) * 8 / 10e-6, 1e6);
}

// Between two acknowledgements a fifth of a round trip apart, news counts a fifth.
TEST(Hpcc, WeighsNewsByTheTimeItCovers) {
  TestFlow flow("hpcc", "hpcc", k100Gb);
  const std::vector<TelemetryHop> before = {{Us(0), 0, 0, k100Gb}};
  const std::vector<TelemetryHop> now = {{Us(2), 12'500, 0, k100Gb}};  // half the link
  flow.Ack(Us(20), Us(10), 1, 0, now, before);
  EXPECT_NEAR(Window(flow), 125'000, 1);  // 125,000 / (0.9 / 0.95) + 50 is above the line rate
  const std::vector<TelemetryHop> later = {{Us(4), 62'500, 0, k100Gb}};  // twice the link
  flow.Ack(Us(22), Us(10), 20, 0, later, now);
  const double use = 0.8 * (0.8 * 1 + 0.2 * 0.5) + 0.2 * 2;
  EXPECT_NEAR(Window(flow), 125'000 / (use / 0.95) + 50, 1);
}

// max_stage 5: five additive steps while there is room, then a multiplicative one.
TEST(Hpcc, TakesAdditiveStepsBeforeAMultiplicativeOne) {
  TestFlow flow("hpcc", "hpcc-paper", k100Gb);
  flow.in_flight = 0;
  std::vector<TelemetryHop> before = {{Us(0), 0, 125'000, k100Gb}};
  const auto step = [&](int round, std::int64_t sent, std::int64_t queue) {
    const std::vector<TelemetryHop> now = {
        {Us(10 * round), before[0].sent_bytes + sent, queue, k100Gb}};
    flow.Ack(Us(10 * round), Us(10), 1, 0, now, before);
    before = now;
  };
  step(1, 125'000, 125'000);  // full, with a queue: u = 2
  const double low = Window(flow);
  EXPECT_NEAR(low, 125'000 / (2 / 0.95) + 62.5, 1);
  for (int i = 0; i < 5; ++i) step(2 + i, 62'500, 0);
  EXPECT_NEAR(Window(flow), low + 5 * 62.5, 1);
  step(7, 62'500, 0);
  EXPECT_NEAR(Window(flow), (low + 5 * 62.5) / (0.5 / 0.95) + 62.5, 1);
}

// Path and packets are a scale of 10/12 of the reference; the target is 7.5 us.
TEST(Nscc, GrowsInProportionToWhatTheDelayLacks) {
  TestFlow flow("nscc", "nscc", k100Gb, {{"eta", 0}, {"fast", 0}, {"max_window", 3}});
  flow.Lose(Us(0), false, false, 175'000);
  ASSERT_EQ(flow.flow.window, 200'000);
  flow.Ack(Us(1), Time::Picoseconds(13'750'000), 9);  // half the target; nine packets take effect
  const double scale = 10.0 / 12;
  const double growth = 4 * 1000 * scale * (7.5 / 12) * 9'000 * 0.5;
  EXPECT_NEAR(Window(flow), 200'000 + growth / 200'000, 1);
}

TEST(Nscc, ShrinksOnMarkedLongDelaysOnceARoundTrip) {
  TestFlow flow("nscc", "nscc", k100Gb, {{"delay_weight", 1}, {"eta", 0}});
  ASSERT_EQ(flow.flow.window, 187'500);
  flow.Ack(Us(100), Us(25), 1, 1);  // 15 us of queueing, twice the target
  EXPECT_NEAR(Window(flow), 187'500 * (1 - 0.8 * 0.5), 1);
  flow.Ack(Us(105), Us(25), 1, 1);
  EXPECT_NEAR(Window(flow), 187'500 * (1 - 0.8 * 0.5), 1);
}

TEST(Nscc, LeavesTheWindowAloneOnMarkedShortDelays) {
  TestFlow flow("nscc", "nscc", k100Gb, {{"eta", 0}});
  flow.Ack(Us(1), Us(12), 9, 1);
  EXPECT_EQ(flow.flow.window, 187'500);
}

// A trimmed packet within a period that delivered little: the window becomes what was delivered.
TEST(Nscc, AdaptsAtOnceToWhatAPeriodDelivered) {
  TestFlow flow("nscc", "nscc", k100Gb, {{"eta", 0}});
  flow.Ack(Us(1), Us(12), 1);  // begins a period of 17.5 us
  flow.Ack(Us(10), Us(12), 5);
  flow.Lose(Us(30), false, true);
  EXPECT_EQ(flow.flow.window, 5'000);
  // What was in flight then says nothing new.
  flow.Ack(Us(31), Us(60), 1, 1);
  EXPECT_EQ(flow.flow.window, 5'000);
}

}  // namespace
}  // namespace trunkline
