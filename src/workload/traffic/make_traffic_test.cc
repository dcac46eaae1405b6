#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/test_units.h"
#include "workload/traffic/test_jobs.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TrafficWorkload Made(const TrafficSpec& spec, std::uint32_t ranks, std::uint64_t seed = 1) {
  auto traffic = MakeTraffic(spec, ranks, k100Gb, seed);
  EXPECT_TRUE(traffic.has_value()) << Format(traffic.error().front());
  return traffic ? *std::move(traffic) : TrafficWorkload();
}

Diagnostic OnlyError(const TrafficSpec& spec, std::uint32_t ranks = 16) {
  const auto traffic = MakeTraffic(spec, ranks, k100Gb, 1);
  EXPECT_FALSE(traffic.has_value());
  if (traffic.has_value()) return {};
  EXPECT_THAT(traffic.error(), SizeIs(1));
  EXPECT_FALSE(traffic.error().front().hint.empty());
  return traffic.error().front();
}

TEST(MakeTraffic, PostsEverythingAtTheStartOfAJob) {
  TrafficJob job = JobOf("permutation");
  job.start = Time::Microseconds(3);
  job.traffic_class = 1;
  job.raw = true;
  job.sizes = FlowSizes::Fixed(Bytes(2'000'000));
  const TrafficWorkload traffic = Made(SpecOf(job), 16);
  ASSERT_THAT(traffic.flows, SizeIs(16));
  EXPECT_EQ(traffic.ranks, 16U);
  EXPECT_EQ(traffic.measure_until, Time::Max());
  EXPECT_EQ(traffic.offered_load, 0);
  for (const TrafficFlow& flow : traffic.flows) {
    EXPECT_EQ(flow.start, Time::Microseconds(3));
    EXPECT_EQ(flow.bytes, Bytes(2'000'000));
    EXPECT_EQ(flow.traffic_class, 1);
    EXPECT_TRUE(flow.raw);
  }
}

// 64 ranks offer 0.6 of 12.5 GB/s in messages of 100 kB: 75,000 a second each, 48,000 in 10 ms,
// with a standard deviation of 219.
TEST(MakeTraffic, OffersTheLoadThatWasAsked) {
  TrafficJob job = JobOf("uniform");
  job.sizes = FlowSizes::Fixed(Bytes(100'000));
  const TrafficSpec spec = PoissonSpec(job, 0.6, Time::Microseconds(10'000));
  const TrafficWorkload traffic = Made(spec, 64);
  EXPECT_EQ(traffic.offered_load, 0.6);
  EXPECT_EQ(traffic.measure_from, Time::Microseconds(1000));
  EXPECT_EQ(traffic.measure_until, Time::Microseconds(11'000));
  std::int64_t in_window = 0;
  for (const TrafficFlow& flow : traffic.flows) {
    if (flow.start >= traffic.measure_from && flow.start < traffic.measure_until) ++in_window;
  }
  EXPECT_NEAR(static_cast<double>(in_window), 48'000, 5 * 219);
  EXPECT_NEAR(MeasureOfferedLoad(traffic, k100Gb).mean_sent, 0.6, 0.6 * 5 * 219 / 48'000);
}

// The gaps of a Poisson process have mean and standard deviation 1/rate; numbers of arrivals in
// equal times have their mean as variance.
TEST(MakeTraffic, PoissonArrivalsAreMemoryless) {
  TrafficJob job = JobOf("incast", {{"senders", 1}});
  job.sizes = FlowSizes::Fixed(Bytes(12'500));  // 1 us at full rate
  const TrafficWorkload traffic = Made(PoissonSpec(job, 0.5, Time::Microseconds(100'000)), 2);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < traffic.flows.size(); ++i) {
    const double gap = (traffic.flows[i].start - traffic.flows[i - 1].start).seconds() * 1e6;
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(traffic.flows.size() - 1);
  EXPECT_NEAR(n, 55'000, 5 * 235);
  EXPECT_NEAR(sum / n, 2, 0.05);
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * sum / n), 2, 0.1);
}

// On-times of 50 us at 0.8 / (1/4) of the long-run rate: the count's variance is far beyond that of
// a Poisson process (peakedness), its mean is the same.
TEST(MakeTraffic, OnOffArrivalsOfferTheSameLoadInBursts) {
  TrafficJob job = JobOf("uniform");
  job.sizes = FlowSizes::Fixed(Bytes(12'500));
  TrafficSpec spec = PoissonSpec(job, 0.2, Time::Microseconds(20'000));
  spec.jobs[0].arrivals = Arrivals::kOnOff;
  spec.jobs[0].mean_on = Time::Microseconds(50);
  spec.jobs[0].mean_off = Time::Microseconds(150);
  const TrafficWorkload traffic = Made(spec, 64);
  // 100 periods of 200 us each for 64 ranks: the share of on-time has a standard deviation of about
  // 1.3 % of itself.
  EXPECT_NEAR(MeasureOfferedLoad(traffic, k100Gb).mean_sent, 0.2, 0.2 * 5 * 0.013);
  // Of one rank, in slices of 50 us: 10 messages on average. Were it Poisson, the variance would be
  // 10; bursts of 40 and pauses give well over 100.
  std::vector<double> slices(400, 0);
  for (const TrafficFlow& flow : traffic.flows) {
    if (flow.source != RankId(5) || flow.start < traffic.measure_from) continue;
    const auto slice =
        static_cast<std::size_t>((flow.start - traffic.measure_from).ps() / 50'000'000);
    if (slice < slices.size()) ++slices[slice];
  }
  double sum = 0;
  double squares = 0;
  for (const double count : slices) {
    sum += count;
    squares += count * count;
  }
  const double mean = sum / 400;
  EXPECT_GT(squares / 400 - mean * mean, 5 * mean);
}

TEST(MakeTraffic, IsInOrderOfTimeAndAFunctionOfTheSeed) {
  TrafficSpec spec = PoissonSpec(JobOf("uniform"), 0.5, Time::Microseconds(2000));
  spec.jobs[0].sizes = *FindFlowSizes("web-search");
  spec.jobs.push_back(JobOf("incast"));
  spec.jobs[1].name = "burst";
  spec.jobs[1].start = Time::Microseconds(500);
  const TrafficWorkload first = Made(spec, 32, 7);
  const TrafficWorkload again = Made(spec, 32, 7);
  const TrafficWorkload other = Made(spec, 32, 8);
  ASSERT_EQ(first.flows.size(), again.flows.size());
  for (std::size_t i = 0; i < first.flows.size(); ++i) {
    EXPECT_EQ(first.flows[i].start, again.flows[i].start);
    EXPECT_EQ(first.flows[i].bytes, again.flows[i].bytes);
    EXPECT_EQ(first.flows[i].destination, again.flows[i].destination);
  }
  EXPECT_TRUE(std::ranges::is_sorted(first.flows, {}, &TrafficFlow::start));
  EXPECT_NE(first.flows.front().start, other.flows.front().start);
  EXPECT_EQ(first.jobs, (std::vector<std::string>{"traffic", "burst"}));
}

// More ranks, another job or a longer run change nothing of what one rank posts.
TEST(MakeTraffic, DrawsForEachRankByItself) {
  const TrafficSpec spec = PoissonSpec(JobOf("incast"), 0.3, Time::Microseconds(5000));
  const auto starts = [&](const TrafficWorkload& traffic) {
    std::vector<Time> of_rank;
    for (const TrafficFlow& flow : traffic.flows) {
      if (flow.source == RankId(3)) of_rank.push_back(flow.start);
    }
    return of_rank;
  };
  EXPECT_EQ(starts(Made(spec, 16)), starts(Made(spec, 64)));
}

TEST(MakeTraffic, MeasuresTheLoadOfTheBusiestReceiver) {
  TrafficJob job = JobOf("incast");
  job.sizes = FlowSizes::Fixed(Bytes(10'000));
  const OfferedLoad load =
      MeasureOfferedLoad(Made(PoissonSpec(job, 0.5, Time::Microseconds(5000)), 9), k100Gb);
  EXPECT_NEAR(load.most_received, 8 * 0.5, 0.2);
  EXPECT_NEAR(load.mean_sent, 0.5, 0.03);
}

TEST(MakeTraffic, RefusesLoadsThatCannotBe) {
  for (const double load : {0.0, -0.1, 1.01, std::nan(""), HUGE_VAL}) {
    const Diagnostic error =
        OnlyError(PoissonSpec(JobOf("uniform"), load, Time::Microseconds(1000)));
    EXPECT_EQ(error.code, "TL1752");
    EXPECT_THAT(error.hint, HasSubstr("up to 1"));
  }
  TrafficSpec two = PoissonSpec(JobOf("uniform"), 0.6, Time::Microseconds(1000));
  two.jobs.push_back(two.jobs[0]);
  EXPECT_THAT(OnlyError(two).message, HasSubstr("add up to 1.2 at rank 0"));
  two.jobs[0].ranks = 8;
  two.jobs[1].first_rank = 8;
  EXPECT_EQ(Made(two, 16).offered_load, 0.6);
}

TEST(MakeTraffic, RefusesWhatNothingWouldRead) {
  TrafficSpec at_once = SpecOf(JobOf("uniform"));
  at_once.jobs[0].load = 0.5;
  EXPECT_EQ(OnlyError(at_once).code, "TL1753");
  at_once = SpecOf(JobOf("uniform"));
  at_once.window = Time::Microseconds(1);
  EXPECT_EQ(OnlyError(at_once).code, "TL1753");
  TrafficSpec timed = PoissonSpec(JobOf("uniform"), 0.5, Time::Microseconds(100));
  timed.jobs[0].rounds = 2;
  EXPECT_EQ(OnlyError(timed).code, "TL1753");
  timed.jobs[0].rounds = 1;
  timed.jobs[0].mean_on = Time::Microseconds(1);
  EXPECT_EQ(OnlyError(timed).code, "TL1753");
  timed.jobs[0].mean_on = Time();
  timed.jobs[0].arrivals = Arrivals::kOnOff;
  EXPECT_EQ(OnlyError(timed).code, "TL1753");
  EXPECT_EQ(
      OnlyError(PoissonSpec(JobOf("all-to-all", {{"parallel", 2}}), 0.5, Time::Microseconds(1000)))
          .code,
      "TL1753");
  EXPECT_EQ(OnlyError(PoissonSpec(JobOf("uniform"), 0.5, Time())).code, "TL1753");
  EXPECT_EQ(OnlyError(TrafficSpec()).code, "TL1753");
}

TEST(MakeTraffic, NamesUnknownPatternsKeysAndMissingOnes) {
  EXPECT_THAT(OnlyError(SpecOf(JobOf("permuttion"))).hint, HasSubstr("'permutation'"));
  EXPECT_EQ(OnlyError(SpecOf(JobOf("permuttion"))).code, "TL1750");
  EXPECT_THAT(OnlyError(SpecOf(JobOf("incast", {{"sender", 3}}))).hint, HasSubstr("'senders'"));
  EXPECT_EQ(OnlyError(SpecOf(JobOf("permutation", {{"target", 3}}))).code, "TL1751");
  EXPECT_THAT(OnlyError(SpecOf(JobOf("group-shift"))).message, HasSubstr("without group_size"));
}

TEST(MakeTraffic, RefusesValuesOutOfRange) {
  EXPECT_EQ(OnlyError(SpecOf(JobOf("incast", {{"senders", 16}}))).code, "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("incast", {{"senders", 1.5}}))).code, "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("incast", {{"senders", std::nan("")}}))).code, "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("incast", {{"target", -1}}))).code, "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("outcast", {{"source", 1e300}}))).code, "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("hotspot", {{"hot_share", 1.1}}))).code, "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("hotspot", {{"hot_share", 0.1}, {"hot_ranks", 16}}))).code,
            "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("group-shift", {{"group_size", 5}}))).code, "TL1753");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("group-shift", {{"group_size", 16}}))).code, "TL1753");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("group-shift", {{"group_size", 8}, {"shift", 2}}))).code,
            "TL1752");
  EXPECT_EQ(OnlyError(SpecOf(JobOf("uniform")), 1).code, "TL1752");
  TrafficSpec spec = SpecOf(JobOf("uniform"));
  spec.jobs[0].first_rank = 10;
  spec.jobs[0].ranks = 7;
  EXPECT_THAT(OnlyError(spec).message, HasSubstr("ranks 10 to 16 of 16"));
  spec.jobs[0].ranks = 1;
  EXPECT_EQ(OnlyError(spec).code, "TL1752");
  spec = SpecOf(JobOf("uniform"));
  spec.jobs[0].rounds = 0;
  EXPECT_EQ(OnlyError(spec).code, "TL1752");
  spec = SpecOf(JobOf("uniform"));
  spec.jobs[0].sizes = FlowSizes::Fixed(Bytes(0));
  EXPECT_EQ(OnlyError(spec).code, "TL1752");
  spec = PoissonSpec(JobOf("uniform"), 0.5, Time::Horizon());
  EXPECT_EQ(OnlyError(spec).code, "TL1752");
  spec.window = Time::Microseconds(1);
  spec.warm_up = Time::Picoseconds(-1);
  EXPECT_EQ(OnlyError(spec).code, "TL1752");
}

TEST(MakeTraffic, RefusesMoreMessagesThanCanBeHeld) {
  EXPECT_EQ(OnlyError(SpecOf(JobOf("all-to-all")), 65'536).code, "TL1754");
  TrafficJob small = JobOf("uniform");
  small.sizes = FlowSizes::Fixed(Bytes(1));
  EXPECT_EQ(OnlyError(PoissonSpec(small, 1, Time::Microseconds(1'000'000))).code, "TL1754");
  // Periods of a picosecond are as many draws, however few the messages.
  TrafficSpec spec = PoissonSpec(JobOf("uniform"), 1e-6, Time::Microseconds(1'000'000));
  spec.jobs[0].arrivals = Arrivals::kOnOff;
  spec.jobs[0].mean_on = Time::Picoseconds(1);
  spec.jobs[0].mean_off = Time::Picoseconds(1);
  EXPECT_EQ(OnlyError(spec).code, "TL1754");
}

TEST(MakeTraffic, SaysWhenNothingWouldBePosted) {
  EXPECT_THAT(OnlyError(PoissonSpec(JobOf("uniform"), 1e-12, Time::Nanoseconds(1))).message,
              HasSubstr("no message"));
}

TEST(Arrivals, ReadTheirOwnNames) {
  for (const Arrivals arrivals : {Arrivals::kAtOnce, Arrivals::kPoisson, Arrivals::kOnOff}) {
    EXPECT_EQ(ParseArrivals(ToString(arrivals)), arrivals);
  }
  EXPECT_EQ(ParseArrivals("weekly"), std::nullopt);
}

}  // namespace
}  // namespace trunkline
