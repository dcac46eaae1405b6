#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "trunkline/engine/traffic.h"

namespace trunkline {
namespace {

using ::testing::SizeIs;

TEST(PercentilesOf, AreNearestRanks) {
  std::vector<double> values(200);
  std::iota(values.rbegin(), values.rend(), 1.0);  // 200 … 1
  const Percentiles percentiles = PercentilesOf(values);
  EXPECT_EQ(percentiles.count, 200U);
  EXPECT_DOUBLE_EQ(percentiles.mean, 100.5);
  EXPECT_EQ(percentiles.p50, 100);
  EXPECT_EQ(percentiles.p95, 190);
  EXPECT_EQ(percentiles.p99, 198);
  EXPECT_EQ(percentiles.max, 200);
  EXPECT_EQ(PercentilesOf({3}).p50, 3);
  EXPECT_EQ(PercentilesOf({1, 2, 3}).p50, 2);
  EXPECT_EQ(PercentilesOf({}).count, 0U);
}

// A flow of `bytes` posted at `posted` us that takes `taken` us, by default twice what it takes
// alone.
struct History {
  TrafficWorkload traffic;
  std::vector<FlowRecord> records;

  void Add(std::int64_t bytes, std::int64_t posted, std::int64_t taken, std::int64_t alone_ns = 0) {
    TrafficFlow flow;
    flow.bytes = Bytes(bytes);
    flow.start = Time::Microseconds(posted);
    traffic.flows.push_back(flow);
    FlowRecord record;
    record.posted = Time::Microseconds(posted);
    record.delivered = Time::Microseconds(posted + taken);
    record.acknowledged = Time::Microseconds(posted + taken + 3);
    record.alone = Time::Nanoseconds(alone_ns > 0 ? alone_ns : taken * 500);
    records.push_back(record);
  }
};

TEST(MeasureTraffic, CountsTheFlowsOfTheMeasuredTime) {
  History history;
  history.Add(500, 5, 10);
  history.Add(1'000, 10, 20);
  history.Add(1'001, 19, 40);
  history.Add(500, 20, 90);
  history.traffic.measure_from = Time::Microseconds(10);
  history.traffic.measure_until = Time::Microseconds(20);
  const TrafficStatistics statistics = MeasureTraffic(history.traffic, history.records);
  EXPECT_EQ(statistics.flows, 2U);
  EXPECT_EQ(statistics.unfinished, 0U);
  EXPECT_DOUBLE_EQ(statistics.fct_s.mean, 30e-6);
  EXPECT_DOUBLE_EQ(statistics.fct_ack_s.mean, 33e-6);
  EXPECT_DOUBLE_EQ(statistics.slowdown.max, 2);
  ASSERT_THAT(statistics.size_classes, SizeIs(2));
  EXPECT_EQ(statistics.size_classes[0].up_to, Bytes(1'000));
  EXPECT_DOUBLE_EQ(statistics.size_classes[0].fct_s.max, 20e-6);
  EXPECT_EQ(statistics.size_classes[1].above, Bytes(1'000));
  EXPECT_DOUBLE_EQ(statistics.size_classes[1].fct_s.max, 40e-6);
}

TEST(MeasureTraffic, CountsWhatDidNotArriveApart) {
  History history;
  history.Add(500, 1, 10);
  history.Add(500, 2, 10);
  history.Add(500, 3, 10);
  history.records[1].delivered = history.records[1].acknowledged = FlowRecord::kNot;
  history.records[2] = {};  // not even posted when the run ended
  history.traffic.flows[2].job = 1;
  const TrafficStatistics all = MeasureTraffic(history.traffic, history.records);
  EXPECT_EQ(all.flows, 3U);
  EXPECT_EQ(all.unfinished, 2U);
  EXPECT_EQ(all.fct_s.count, 1U);
  const TrafficStatistics second = MeasureTraffic(history.traffic, history.records, 1);
  EXPECT_EQ(second.flows, 1U);
  EXPECT_EQ(second.unfinished, 1U);
}

// Every microsecond 1,000 bytes for a link that carries `share` of them: fluid first in, first out.
History Queue(double share) {
  History history;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const double done = static_cast<double>(i + 1) / std::min(share, 1.0);
    history.Add(1000, i, static_cast<std::int64_t>(done) + 1 - i, 500);
  }
  history.traffic.measure_from = Time::Microseconds(100);
  history.traffic.measure_until = Time::Microseconds(900);
  return history;
}

TEST(JudgeSaturation, TellsALinkThatKeepsUpFromOneThatDoesNot) {
  const History keeps_up = Queue(1);
  const auto stable = JudgeSaturation(keeps_up.traffic, keeps_up.records);
  ASSERT_TRUE(stable.has_value());
  EXPECT_FALSE(stable->saturated);
  EXPECT_DOUBLE_EQ(stable->offered_bytes, 800'000);
  EXPECT_DOUBLE_EQ(stable->delivered_bytes, 800'000);

  const History falls_behind = Queue(0.8);
  const auto saturated = JudgeSaturation(falls_behind.traffic, falls_behind.records);
  ASSERT_TRUE(saturated.has_value());
  EXPECT_TRUE(saturated->saturated);
  EXPECT_NEAR(saturated->delivered_bytes, 640'000, 2000);
  // A fifth of what was posted until then.
  EXPECT_NEAR(saturated->backlog_at_start, 20'000, 2000);
  EXPECT_NEAR(saturated->backlog_at_middle, 100'000, 2000);
  EXPECT_NEAR(saturated->backlog_at_end, 180'000, 2000);
}

TEST(JudgeSaturation, ConservesBytes) {
  for (const double share : {0.5, 0.9, 0.97, 1.0}) {
    const History history = Queue(share);
    const auto judged = JudgeSaturation(history.traffic, history.records);
    EXPECT_DOUBLE_EQ(judged->offered_bytes - judged->delivered_bytes,
                     judged->backlog_at_end - judged->backlog_at_start);
    EXPECT_EQ(judged->saturated, share < 0.94) << share;  // 0.95 and some to be late
  }
}

TEST(JudgeSaturation, ABurstAtTheEndIsNoSaturation) {
  History history = Queue(1);
  history.Add(500'000, 890, 50);
  const auto judged = JudgeSaturation(history.traffic, history.records);
  EXPECT_LT(judged->delivered_bytes, 0.95 * judged->offered_bytes);
  EXPECT_FALSE(judged->saturated);
}

// The backlog fills up and stays: a warm-up that is too short is no saturation.
TEST(JudgeSaturation, ABacklogThatLevelsOffIsNoSaturation) {
  History history;
  for (std::int64_t i = 0; i < 1000; ++i)
    history.Add(1000, i, std::min<std::int64_t>(i, 300) + 1, 500);
  history.traffic.measure_from = Time::Microseconds(100);
  history.traffic.measure_until = Time::Microseconds(900);
  const auto judged = JudgeSaturation(history.traffic, history.records);
  EXPECT_LT(judged->delivered_bytes, 0.95 * judged->offered_bytes);
  EXPECT_GT(judged->backlog_at_end, judged->backlog_at_start);
  EXPECT_FALSE(judged->saturated);
}

// A few large messages among small ones make a backlog jump.
TEST(JudgeSaturation, AFewLargeMessagesAreChance) {
  History history = Queue(1);
  for (const std::int64_t posted : {300, 400, 600, 700}) history.Add(100'000, posted, 650);
  const auto judged = JudgeSaturation(history.traffic, history.records);
  EXPECT_LT(judged->delivered_bytes, 0.95 * judged->offered_bytes);
  EXPECT_LT(judged->backlog_at_start, judged->backlog_at_middle);
  EXPECT_LT(judged->backlog_at_middle, judged->backlog_at_end);
  EXPECT_FALSE(judged->saturated);
}

// A link of 20 us that takes four messages in the time of five. None waits ten times those 20 us
// before the end.
TEST(JudgeSaturation, HoldsWhatIsAcceptedAgainstWhatIsOfferedWhereTheWindowIsLongEnough) {
  History history;
  for (std::int64_t i = 0; i < 600; ++i) history.Add(1000, i, i / 4 + 20, 20'000);
  history.traffic.measure_from = Time::Microseconds(20);
  history.traffic.measure_until = Time::Microseconds(220);
  const auto shorter = JudgeSaturation(history.traffic, history.records);
  EXPECT_EQ(shorter->least_warm_up, Time::Microseconds(20));
  EXPECT_NEAR(shorter->least_window.seconds(), 400e-6, 1e-9);
  EXPECT_FALSE(shorter->long_enough);
  EXPECT_FALSE(shorter->saturated);

  history.traffic.measure_until = Time::Microseconds(20 + 401);
  const auto longer = JudgeSaturation(history.traffic, history.records);
  EXPECT_TRUE(longer->long_enough);
  EXPECT_NEAR(longer->accepted, 0.8, 0.01);
  EXPECT_EQ(longer->late_at_end, 0);
  EXPECT_TRUE(longer->saturated);
}

TEST(JudgeSaturation, CountsFlowsThatWereNeverPostedAsBacklog) {
  History history = Queue(1);
  for (std::size_t i = 200; i < 1000; ++i) history.records[i] = {};
  const auto judged = JudgeSaturation(history.traffic, history.records);
  EXPECT_TRUE(judged->saturated);
  EXPECT_DOUBLE_EQ(judged->offered_bytes, 800'000);
}

TEST(JudgeSaturation, SaysNothingWithoutAMeasuredTime) {
  History history = Queue(1);
  history.traffic.measure_until = Time::Max();
  EXPECT_FALSE(JudgeSaturation(history.traffic, history.records).has_value());
}

}  // namespace
}  // namespace trunkline
