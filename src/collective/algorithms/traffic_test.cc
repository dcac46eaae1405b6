#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "collective/test_support.h"
#include "trunkline/collective/verifier.h"

// Bytes and steps against the closed forms of the literature (Thakur, Rabenseifner and Gropp 2005;
// Patarasuk and Yuan 2009).
namespace trunkline {
namespace {

ScheduleTraffic TrafficOf(std::string_view algorithm, const CollectiveSpec& spec,
                          const GroupLayout& layout) {
  const auto traffic = Verify(*MustMake(algorithm, spec, layout), spec, layout);
  TL_CHECK(traffic.has_value(), traffic ? "" : Text(traffic.error()));
  return *traffic;
}

CollectiveSpec Spec(Primitive primitive, std::int64_t bytes, std::uint32_t channels = 1) {
  return {.primitive = primitive, .bytes = Bytes(bytes), .element_bytes = 4, .channels = channels};
}

std::int64_t Sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

TEST(RingAllReduce, SendsTwoNMinusOneOverNOfTheBufferInTwoNMinusOneSteps) {
  for (const std::uint32_t p : {2U, 3U, 8U, 31U}) {
    const std::int64_t n = 4 * 5 * p;
    const auto traffic = TrafficOf("ring", Spec(Primitive::kAllReduce, n), GroupLayout::Flat(p));
    EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(p, 2 * (p - 1) * (n / p)));
    EXPECT_EQ(traffic.received, traffic.sent);
    EXPECT_EQ(traffic.steps, 2 * (p - 1));
  }
}

TEST(RingReduceScatterAndAllGather, EachSendHalfOfAnAllReduce) {
  const std::int64_t n = 4 * 3 * 12;
  for (const auto primitive : {Primitive::kReduceScatter, Primitive::kAllGather}) {
    const auto traffic = TrafficOf("ring", Spec(primitive, n), GroupLayout::Flat(12));
    EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(12, 11 * (n / 12)));
    EXPECT_EQ(traffic.steps, 11U);
  }
}

// With as many channels as ranks of a node every rank sends its share of what leaves the node.
TEST(RingAllReduce, SpreadsWhatLeavesANodeOverItsRanks) {
  const std::int64_t n = 4 * 24 * 8;
  const auto traffic =
      TrafficOf("ring", Spec(Primitive::kAllReduce, n, 8), GroupLayout::Grid(3, 8));
  EXPECT_EQ(traffic.sent_between_nodes, std::vector<std::int64_t>(24, 2 * 23 * (n / 24) / 8));
}

TEST(RecursiveDoubling, SendsTheBufferInEachOfLogPSteps) {
  const auto traffic =
      TrafficOf("recursive_doubling", Spec(Primitive::kAllReduce, 40), GroupLayout::Flat(16));
  EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(16, 4 * 40));
  EXPECT_EQ(traffic.steps, 4U);
  // Two steps more where enough ranks are folded in and out.
  EXPECT_EQ(
      TrafficOf("recursive_doubling", Spec(Primitive::kAllReduce, 40), GroupLayout::Flat(31)).steps,
      6U);
}

TEST(RecursiveMultiplying, SendsTheBufferToEachPartnerOfEachDigit) {
  const auto spec = Spec(Primitive::kAllReduce, 40);
  const auto doubling = TrafficOf("recursive_multiplying", spec, GroupLayout::Flat(16));
  EXPECT_EQ(doubling.sent, std::vector<std::int64_t>(16, 4 * 40));
  EXPECT_EQ(doubling.steps, 4U);
  // 60 = 2 * 2 * 3 * 5.
  const auto mixed = TrafficOf("recursive_multiplying", spec, GroupLayout::Flat(60));
  EXPECT_EQ(mixed.sent, std::vector<std::int64_t>(60, (1 + 1 + 2 + 4) * 40));
  EXPECT_EQ(mixed.steps, 4U);
  // 6 = 2 * 3 ranks of 5 nodes: no step but the last leaves them.
  const auto nodes = TrafficOf("recursive_multiplying", spec, GroupLayout::Grid(5, 6));
  EXPECT_EQ(nodes.sent_between_nodes, std::vector<std::int64_t>(30, 4 * 40));
  EXPECT_EQ(nodes.steps, 3U);
}

TEST(HalvingDoubling, SendsAsLittleAsARingInTwoLogPSteps) {
  const std::int64_t n = 4 * 3 * 32;
  const auto traffic =
      TrafficOf("halving_doubling", Spec(Primitive::kAllReduce, n), GroupLayout::Flat(32));
  EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(32, 2 * 31 * (n / 32)));
  EXPECT_EQ(traffic.steps, 10U);
}

TEST(Hierarchical, SendsTwoNMinusOneOverNOfAGthOfTheBufferBetweenNodes) {
  const std::uint32_t nodes = 5;
  const std::uint32_t per_node = 4;
  const std::int64_t n = 4 * 3 * nodes * per_node;
  const auto traffic =
      TrafficOf("hierarchical", Spec(Primitive::kAllReduce, n), GroupLayout::Grid(nodes, per_node));
  EXPECT_EQ(traffic.sent_between_nodes,
            std::vector<std::int64_t>(20, 2 * (nodes - 1) * (n / per_node / nodes)));
  EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(20, 2 * 19 * (n / 20)));
  EXPECT_EQ(traffic.steps, 2U * (per_node - 1) + 2U * (nodes - 1));
}

TEST(Hierarchical, HalvesItsTrafficForReduceScatterAndAllGather) {
  const std::int64_t n = 4 * 24;
  for (const auto primitive : {Primitive::kReduceScatter, Primitive::kAllGather}) {
    const auto traffic = TrafficOf("hierarchical", Spec(primitive, n), GroupLayout::Grid(3, 4));
    EXPECT_EQ(traffic.sent_between_nodes, std::vector<std::int64_t>(12, 2 * (n / 12)));
    EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(12, 11 * (n / 12)));
  }
}

TEST(Tree, TakesTwoLogPStepsAndSendsTheBufferOverEveryEdgeTwice) {
  for (const auto& [p, log] : {std::pair(16U, 4U), std::pair(17U, 5U), std::pair(31U, 5U)}) {
    const auto traffic = TrafficOf("tree", Spec(Primitive::kAllReduce, 40), GroupLayout::Flat(p));
    EXPECT_EQ(Sum(traffic.sent), 2 * (p - 1) * 40);
    // A binomial tree of p ranks is as deep as the most bits a place below p has, at most ceil(log2
    // p).
    EXPECT_LE(traffic.steps, 2 * log);
  }
  EXPECT_EQ(TrafficOf("tree", Spec(Primitive::kAllReduce, 40), GroupLayout::Flat(16)).steps, 8U);
}

TEST(Tree, EntersEachNodeOnceOnEveryChannelWhateverItsRoot) {
  const GroupLayout layout = GroupLayout::Grid(4, 8);
  for (const std::uint32_t root : {0U, 3U, 14U}) {
    CollectiveSpec spec = Spec(Primitive::kAllReduce, 4 * 8 * 6, 8);
    spec.root = root;
    // Three of the nodes are entered and left by the whole buffer.
    EXPECT_EQ(TrafficOf("tree", spec, layout).between_nodes, 2 * 3 * spec.bytes.count());
  }
}

TEST(DoubleBinaryTree, LoadsEachRankWithTwiceTheBufferAtMost) {
  for (std::uint32_t p = 2; p <= 33; ++p) {
    const std::int64_t n = 4 * 40;
    const auto traffic =
        TrafficOf("double_binary_tree", Spec(Primitive::kAllReduce, n), GroupLayout::Flat(p));
    EXPECT_EQ(Sum(traffic.sent), 2 * (p - 1) * n);
    EXPECT_LE(*std::ranges::max_element(traffic.sent), 2 * n) << p;
    EXPECT_LE(*std::ranges::max_element(traffic.received), 2 * n) << p;
  }
}

TEST(Exchange, SendsEveryBlockOnce) {
  const std::int64_t n = 4 * 9 * 2;
  const GroupLayout layout = GroupLayout::Flat(9);
  const auto pairwise = TrafficOf("pairwise", Spec(Primitive::kAllToAll, n), layout);
  EXPECT_EQ(pairwise.sent, std::vector<std::int64_t>(9, 8 * (n / 9)));
  EXPECT_EQ(pairwise.steps, 8U);
  const auto direct = TrafficOf("direct", Spec(Primitive::kAllToAll, n), layout);
  EXPECT_EQ(direct.sent, pairwise.sent);
  EXPECT_EQ(direct.steps, 1U);
}

TEST(Bruck, GathersInCeilLogPSteps) {
  for (const auto& [p, log] : {std::pair(8U, 3U), std::pair(9U, 4U), std::pair(33U, 6U)}) {
    const std::int64_t n = 4 * p;
    const auto traffic = TrafficOf("bruck", Spec(Primitive::kAllGather, n), GroupLayout::Flat(p));
    EXPECT_EQ(traffic.steps, log);
    EXPECT_EQ(traffic.sent, std::vector<std::int64_t>(p, (p - 1) * 4));
  }
}

// 33 ranks: two vertices of 32 and 1 ranks and a root above them.
TEST(Sharp, EachRankSendsAndReceivesTheBufferOnce) {
  const auto traffic = TrafficOf("sharp", Spec(Primitive::kAllReduce, 40), GroupLayout::Flat(33));
  ASSERT_EQ(traffic.sent.size(), 33U + 3U);
  EXPECT_TRUE(std::ranges::all_of(std::span(traffic.sent).first(33),
                                  [](std::int64_t bytes) { return bytes == 40; }));
  EXPECT_TRUE(std::ranges::all_of(std::span(traffic.received).first(33),
                                  [](std::int64_t bytes) { return bytes == 40; }));
  EXPECT_EQ(traffic.steps, 4U);
  EXPECT_EQ(traffic.with_actors, 2 * 40 * (33 + 2));
}

}  // namespace
}  // namespace trunkline
