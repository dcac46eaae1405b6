#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/test_units.h"
#include "workload/traffic/pattern.h"
#include "workload/traffic/test_jobs.h"

namespace trunkline {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

std::vector<TrafficFlow> FlowsOf(TrafficJob job, std::uint32_t ranks, std::uint64_t seed = 1) {
  const auto traffic = MakeTraffic(SpecOf(std::move(job)), ranks, k100Gb, seed);
  EXPECT_TRUE(traffic.has_value()) << Format(traffic.error().front());
  return traffic ? traffic->flows : std::vector<TrafficFlow>();
}

std::map<RankId, int> CountReceived(const std::vector<TrafficFlow>& flows) {
  std::map<RankId, int> counts;
  for (const TrafficFlow& flow : flows) ++counts[flow.destination];
  return counts;
}

TEST(TrafficPatterns, NeverSendARankItsOwnMessages) {
  const std::map<std::string, std::map<std::string, double>> needed = {
      {"group-shift", {{"group_size", 4}}}, {"hotspot", {{"hot_share", 0.5}, {"hot_ranks", 2}}}};
  for (const TrafficPattern& pattern : TrafficPatterns()) {
    const auto values = needed.find(pattern.name);
    TrafficJob job = JobOf(
        pattern.name, values == needed.end() ? std::map<std::string, double>() : values->second);
    job.rounds = 5;
    const auto flows = FlowsOf(job, 24);
    EXPECT_FALSE(flows.empty()) << pattern.name;
    for (const TrafficFlow& flow : flows) {
      EXPECT_NE(flow.source, flow.destination) << pattern.name;
      EXPECT_LT(Index(flow.destination), 24U) << pattern.name;
    }
  }
}

TEST(TrafficPatterns, PermutationIsOneCycleThroughAllRanks) {
  for (const std::uint32_t ranks : {2U, 3U, 17U, 128U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto flows = FlowsOf(JobOf("permutation"), ranks, seed);
      ASSERT_THAT(flows, SizeIs(ranks));
      std::uint32_t at = 0;
      std::set<std::uint32_t> seen;
      while (seen.insert(at).second) at = static_cast<std::uint32_t>(Index(flows[at].destination));
      EXPECT_THAT(seen, SizeIs(ranks));
      EXPECT_EQ(at, 0U);
    }
  }
}

TEST(TrafficPatterns, PermutationDependsOnTheSeedAndLastsForAllRounds) {
  TrafficJob job = JobOf("permutation");
  job.rounds = 2;
  const auto first = FlowsOf(job, 64, 1);
  const auto second = FlowsOf(job, 64, 2);
  int differ = 0;
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(first[i].destination, first[64 + i].destination);
    if (first[i].destination != second[i].destination) ++differ;
  }
  EXPECT_GT(differ, 50);
}

// 24,000 messages over 23 destinations of each of 24 ranks: 1,000 a rank with a standard deviation
// of about 31.
TEST(TrafficPatterns, UniformReachesAllOthersAlike) {
  TrafficJob job = JobOf("uniform");
  job.rounds = 1000;
  const auto counts = CountReceived(FlowsOf(job, 24));
  ASSERT_THAT(counts, SizeIs(24));
  for (const auto& [rank, count] : counts) EXPECT_NEAR(count, 1000, 5 * 31) << Index(rank);
}

TEST(TrafficPatterns, IncastIsManyToOneAndOutcastOneToMany) {
  const auto incast = FlowsOf(JobOf("incast", {{"senders", 8}, {"target", 3}}), 33);
  ASSERT_THAT(incast, SizeIs(8));
  std::set<RankId> senders;
  for (const TrafficFlow& flow : incast) {
    EXPECT_EQ(flow.destination, RankId(3));
    senders.insert(flow.source);
  }
  // 32 others, every fourth.
  EXPECT_EQ(senders, (std::set<RankId>{RankId(4), RankId(8), RankId(12), RankId(16), RankId(20),
                                       RankId(24), RankId(28), RankId(32)}));
  EXPECT_THAT(FlowsOf(JobOf("incast"), 33), SizeIs(32));

  const auto outcast = FlowsOf(JobOf("outcast", {{"receivers", 8}, {"source", 3}}), 33);
  ASSERT_THAT(outcast, SizeIs(8));
  for (const TrafficFlow& flow : outcast) EXPECT_EQ(flow.source, RankId(3));
  EXPECT_THAT(CountReceived(outcast), SizeIs(8));
}

TEST(TrafficPatterns, AllToAllReachesEveryPairOnce) {
  const auto flows = FlowsOf(JobOf("all-to-all"), 9);
  ASSERT_THAT(flows, SizeIs(72));
  std::set<std::pair<RankId, RankId>> pairs;
  for (const TrafficFlow& flow : flows) pairs.insert({flow.source, flow.destination});
  EXPECT_THAT(pairs, SizeIs(72));
}

// As htsim's gen_serialn_alltoall: n start at once, each arrival starts the next of its rank.
TEST(TrafficPatterns, AllToAllKeepsSoManyMessagesOnTheirWay) {
  const auto traffic = MakeTraffic(SpecOf(JobOf("all-to-all", {{"parallel", 3}})), 9, k100Gb, 1);
  ASSERT_TRUE(traffic.has_value());
  ASSERT_THAT(traffic->triggers, SizeIs(9));
  std::map<RankId, int> at_once;
  for (std::uint32_t i = 0; i < traffic->flows.size(); ++i) {
    const TrafficFlow& flow = traffic->flows[i];
    ASSERT_NE(flow.when_sent, TrafficFlow::kNoTrigger);
    if (flow.trigger == TrafficFlow::kNoTrigger) {
      ++at_once[flow.source];
    } else {
      EXPECT_EQ(flow.trigger, flow.when_sent);
      EXPECT_THAT(traffic->triggers[flow.trigger].flows, ::testing::Contains(i));
    }
  }
  for (const auto& [rank, count] : at_once) EXPECT_EQ(count, 3) << Index(rank);
  for (const TrafficTrigger& trigger : traffic->triggers) {
    EXPECT_EQ(trigger.kind, TrafficTrigger::Kind::kMultiShot);
    EXPECT_THAT(trigger.flows, SizeIs(5));
  }
}

TEST(TrafficPatterns, GroupShiftKeepsThePlaceInTheGroup) {
  const auto flows = FlowsOf(JobOf("group-shift", {{"group_size", 4}}), 20);
  ASSERT_THAT(flows, SizeIs(20));
  for (const TrafficFlow& flow : flows) {
    EXPECT_EQ(Index(flow.destination), (Index(flow.source) + 4) % 20);
  }
  const auto far = FlowsOf(JobOf("group-shift", {{"group_size", 4}, {"shift", 3}}), 20);
  EXPECT_EQ(far[7].destination, RankId(19));
}

// Of 20 ranks 2 are hot. A cold rank sends there with 0.4 + 0.6 x 2/19.
TEST(TrafficPatterns, HotspotSendsTheAskedShareToHotRanks) {
  TrafficJob job = JobOf("hotspot", {{"hot_share", 0.4}, {"hot_ranks", 2}});
  job.rounds = 2000;
  int hot = 0;
  int all = 0;
  for (const TrafficFlow& flow : FlowsOf(job, 20)) {
    if (Index(flow.source) < 2) continue;
    ++all;
    if (Index(flow.destination) < 2) ++hot;
  }
  EXPECT_EQ(all, 36'000);
  EXPECT_NEAR(hot / 36'000.0, 0.4 + 0.6 * 2 / 19, 0.013);  // 5 standard deviations
}

TEST(TrafficPatterns, StayWithinTheRanksOfTheirJob) {
  TrafficJob job = JobOf("uniform");
  job.first_rank = 8;
  job.ranks = 4;
  job.rounds = 50;
  for (const TrafficFlow& flow : FlowsOf(job, 64)) {
    EXPECT_GE(Index(flow.source), 8U);
    EXPECT_LT(Index(flow.source), 12U);
    EXPECT_GE(Index(flow.destination), 8U);
    EXPECT_LT(Index(flow.destination), 12U);
  }
}

TEST(TrafficPatterns, SayWhatTheirKeysAre) {
  EXPECT_THAT(TrafficPatterns(), SizeIs(7));
  for (const TrafficPattern& pattern : TrafficPatterns()) {
    EXPECT_FALSE(pattern.summary.empty());
    for (const TrafficKey& key : pattern.keys) {
      EXPECT_FALSE(key.summary.empty()) << key.name;
      EXPECT_LT(key.min, key.max) << key.name;
    }
  }
}

}  // namespace
}  // namespace trunkline
