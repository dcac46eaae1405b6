#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/test_sanitizers.h"
#include "base/yaml_reader.h"
#include "engine/packet/test_runs.h"
#include "engine/test_fabrics.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"

namespace trunkline {
namespace {

class KeptSamples : public PacketSampleSink {
 public:
  void Take(const PacketSample& sample) override { samples.push_back(sample); }
  std::vector<PacketSample> samples;
};

PacketOptions Sampled(Time every, std::uint32_t threads = 1, PacketSampleSink* sink = nullptr) {
  PacketOptions options;
  options.threads = threads;
  options.until = Time::Microseconds(3'000);
  options.sampling = PacketSampling{.every = every, .links = 1'000, .flows = 1'000};
  options.samples = sink;
  return options;
}

template <typename T>
T Sum(const std::vector<T>& values) {
  return std::accumulate(values.begin(), values.end(), T{});
}

constexpr Time kEvery = Time::Picoseconds(3'700'000);

TEST(Sampler, ChangesNothingOfTheRun) {
  for (const SmallRun& small : SmallRuns(150)) {
    PacketOptions plain;
    plain.until = Time::Microseconds(3'000);
    const PacketReport expected = RunSmall(small, plain);
    const PacketReport report = RunSmall(small, Sampled(kEvery));
    EXPECT_EQ(report.status, expected.status) << small.description;
    EXPECT_EQ(report.end, expected.end) << small.description;
    EXPECT_EQ(report.events, expected.events) << small.description;
    EXPECT_EQ(report.counters.hops.data, expected.counters.hops.data) << small.description;
    ASSERT_EQ(report.links.size(), expected.links.size()) << small.description;
    for (std::size_t i = 0; i < report.links.size(); ++i) {
      EXPECT_EQ(report.links[i].wire_bytes, expected.links[i].wire_bytes) << small.description;
      EXPECT_EQ(report.links[i].max_queue_bytes, expected.links[i].max_queue_bytes)
          << small.description;
    }
    for (std::size_t i = 0; i < report.flows.size(); ++i) {
      EXPECT_EQ(report.flows[i].acknowledged, expected.flows[i].acknowledged) << small.description;
    }
  }
}

TEST(Sampler, AccountsForEveryByteAndEveryPauseAndFindsTheLongestQueue) {
  std::size_t paused = 0;
  for (const SmallRun& small : SmallRuns(150)) {
    const PacketReport report = RunSmall(small, Sampled(kEvery));
    ASSERT_TRUE(report.samples.has_value());
    ASSERT_EQ(report.samples->links.size(), report.links.size()) << small.description;
    for (const PacketSamples::Link& series : report.samples->links) {
      const auto use = std::ranges::find(report.links, series.link, &PacketLinkUse::link);
      ASSERT_NE(use, report.links.end()) << small.description;
      EXPECT_EQ(Sum(series.wire_bytes), use->wire_bytes) << small.description;
      EXPECT_EQ(Sum(series.pauses), use->pauses) << small.description;
      EXPECT_EQ(std::ranges::max(series.peak_queue_bytes), use->max_queue_bytes)
          << small.description;
      paused += use->pauses > 0 ? 1 : 0;
    }
    for (const PacketSamples::Flow& series : report.samples->flows) {
      const bool delivered = report.flows[series.flow].delivered != FlowRecord::kNot;
      const std::int64_t bytes = std::max<std::int64_t>(1, small.flows[series.flow].bytes);
      if (delivered) {
        EXPECT_EQ(Sum(series.delivered_bytes), bytes) << small.description;
      } else {
        EXPECT_LE(Sum(series.delivered_bytes), bytes) << small.description;
      }
    }
  }
  EXPECT_GT(paused, 0U);
}

TEST(Sampler, TellsTheSameWithAnyNumberOfThreads) {
  for (const SmallRun& small : SmallRuns(RandomCases(80))) {
    KeptSamples one;
    KeptSamples three;
    const PacketReport alone = RunSmall(small, Sampled(kEvery, 1, &one));
    const PacketReport together = RunSmall(small, Sampled(kEvery, 3, &three));
    EXPECT_EQ(alone.samples->taken, together.samples->taken) << small.description;
    ASSERT_EQ(one.samples.size(), three.samples.size()) << small.description;
    for (std::size_t i = 0; i < one.samples.size(); ++i) {
      const PacketSample& a = one.samples[i];
      const PacketSample& b = three.samples[i];
      EXPECT_EQ(a.until, b.until) << small.description;
      ASSERT_EQ(a.links.size(), b.links.size()) << small.description;
      for (std::size_t k = 0; k < a.links.size(); ++k) {
        EXPECT_EQ(a.links[k].link, b.links[k].link) << small.description;
        EXPECT_EQ(a.links[k].wire_bytes, b.links[k].wire_bytes) << small.description;
        EXPECT_EQ(a.links[k].peak_queue_bytes, b.links[k].peak_queue_bytes) << small.description;
      }
    }
  }
}

// Drawing intervals together is adding them up.
TEST(Sampler, KeepsFewIntervalsHoweverLongTheRun) {
  for (const SmallRun& small : SmallRuns(20)) {
    KeptSamples recorder;
    const PacketReport report = RunSmall(small, Sampled(Time::Picoseconds(100'000), 1, &recorder));
    const PacketSamples& samples = *report.samples;
    EXPECT_LE(samples.intervals, 512U) << small.description;
    ASSERT_FALSE(samples.links.empty()) << small.description;
    const PacketSamples::Link& series = samples.links.front();
    std::vector<std::int64_t> expected(samples.intervals, 0);
    for (const PacketSample& sample : recorder.samples) {
      for (const PacketSample::Link& link : sample.links) {
        if (link.link != series.link) continue;
        expected[static_cast<std::size_t>(sample.from.ps() / samples.width.ps())] +=
            link.wire_bytes;
      }
    }
    EXPECT_EQ(series.wire_bytes, expected) << small.description;
  }
}

// A lone flow at 100 Gb/s: every interval but the first and last has what the link carries in it,
// but for a frame.
TEST(Sampler, SeesALoneFlowAtItsLinksRate) {
  const Fabric fabric = Crossbar(2, Rate::GigabitsPerSecond(100), Time::Microseconds(1));
  const Router router(fabric, {.policy = RoutingPolicy::kEcmp});
  TrafficWorkload traffic;
  traffic.ranks = 2;
  traffic.flows.emplace_back();
  traffic.flows[0].destination = RankId(1);
  traffic.flows[0].bytes = Bytes(4096 * 1'000);
  const auto placement = PackedPlacement(fabric, 2);
  ASSERT_TRUE(placement.has_value());
  const auto report =
      RunPacketTraffic({router, {}, {}}, traffic, *placement, Sampled(Time::Microseconds(10)));
  ASSERT_TRUE(report.has_value());
  const PacketSamples& samples = *report->samples;
  EXPECT_EQ(samples.width, Time::Microseconds(10));
  // 1,000 frames of 4,178 bytes take 334.2 us, and the acknowledgements follow.
  ASSERT_GE(samples.intervals, 34U);
  const auto first = std::ranges::find_if(samples.links, [&](const PacketSamples::Link& link) {
    return fabric.link(link.link).from == fabric.endpoints()[0];
  });
  ASSERT_NE(first, samples.links.end());
  for (std::size_t i = 0; i < 33; ++i) {
    EXPECT_NEAR(static_cast<double>(first->wire_bytes[i]), 125'000, 4'178) << i;
  }
  ASSERT_EQ(samples.flows.size(), 1U);
  EXPECT_NEAR(static_cast<double>(samples.flows[0].delivered_bytes[10]), 125'000.0 * 4096 / 4178,
              4'096);
}

}  // namespace
}  // namespace trunkline
