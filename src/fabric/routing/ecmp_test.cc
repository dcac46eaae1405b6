#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/test_sanitizers.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

// Two leaves of 64 hosts below as many spines as there are uplinks.
class Uplinks {
 public:
  explicit Uplinks(std::uint32_t count) {
    auto spec = ParseFabricSpec("fat-tree:children=[64,2],parents=[1," + std::to_string(count) +
                                "],link=400Gb/s");
    EXPECT_TRUE(spec.has_value());
    auto built = BuildFabric(*spec);
    EXPECT_TRUE(built.has_value());
    fabric_ = std::move(built->fabric);
    count_ = count;
  }

  // The load of the busiest uplink over the mean, when each of `pairs` pairs of hosts on different
  // leaves has `queue_pairs` flows of equal rate; the mean of many trials.
  [[nodiscard]] double MaxOverMean(std::uint32_t pairs, std::uint32_t queue_pairs) const {
    const Router router(fabric_, {.policy = RoutingPolicy::kEcmp});
    const std::uint32_t flows = pairs * queue_pairs;
    const std::uint32_t trials = (kSanitized ? 40'000 : 200'000) / std::min(flows, 200U);
    double sum = 0;
    std::uint64_t flow = 0;
    for (std::uint32_t trial = 0; trial < trials; ++trial) {
      std::map<LinkId, std::uint32_t> load;
      for (std::uint32_t i = 0; i < flows; ++i, ++flow) {
        const auto ends = fabric_.endpoints();
        const auto path =
            router.FindPath(ends[i / queue_pairs % 64], ends[64 + i / queue_pairs * 7 % 64], flow);
        ++load[(*path)[1]];
      }
      std::uint32_t most = 0;
      for (const auto& [link, count] : load) most = std::max(most, count);
      sum += most * static_cast<double>(count_) / flows;
    }
    return sum / trials;
  }

 private:
  Fabric fabric_;
  std::uint32_t count_ = 0;
};

// Gangidi and others, RDMA over Ethernet for Distributed AI Training at Meta Scale (SIGCOMM 2024):
// max over mean of more than 1.2 for 1,000 flows on 16 links. The figures are those of balls thrown
// into bins at random, mean of 4,000 trials.
TEST(EcmpCollisions, LoadTheBusiestUplinkAsBallsFillTheFullestBin) {
  const Uplinks sixteen(16);
  EXPECT_NEAR(sixteen.MaxOverMean(1'000, 1), 1.229, 0.02 * 1.229);
  EXPECT_NEAR(sixteen.MaxOverMean(256, 1), 1.463, 0.02 * 1.463);
  EXPECT_NEAR(sixteen.MaxOverMean(64, 1), 1.967, 0.02 * 1.967);
  EXPECT_NEAR(sixteen.MaxOverMean(16, 1), 3.08, 0.02 * 3.08);
  EXPECT_NEAR(Uplinks(4).MaxOverMean(4, 1), 2.124, 0.02 * 2.124);
}

// Enhanced ECMP of the same paper: each pair spreads over several queue pairs, so that sixteen
// pairs of hosts load their uplinks as 256 flows do.
TEST(EcmpCollisions, ShrinkWithSeveralQueuePairsAsWithMoreFlows) {
  EXPECT_NEAR(Uplinks(16).MaxOverMean(16, 16), 1.463, 0.02 * 1.463);
}

}  // namespace
}  // namespace trunkline
