#include "trunkline/collective/verifier.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_sanitizers.h"
#include "collective/test_support.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kElement = 4;
constexpr std::uint32_t kRanksStep = kSanitized ? 4 : 1;

constexpr Primitive kPrimitives[] = {
    Primitive::kAllReduce, Primitive::kReduceScatter, Primitive::kAllGather, Primitive::kAllToAll,
    Primitive::kAllToAllV, Primitive::kBroadcast,     Primitive::kReduce,    Primitive::kGather,
    Primitive::kScatter,   Primitive::kSendRecv,      Primitive::kBarrier};

// Sizes of every kind: none, one element, uneven.
std::vector<std::int64_t> UnevenMatrix(std::uint32_t ranks) {
  std::vector<std::int64_t> matrix;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    for (std::uint32_t j = 0; j < ranks; ++j) {
      matrix.push_back(kElement * ((i * 7 + j * 3 + i * j) % 4));
    }
  }
  return matrix;
}

struct Shape {
  std::int64_t elements = 0;
  std::uint32_t channels = 1;
  std::uint32_t slots = 0;
  std::int64_t slice = 0;
};

// Runs every algorithm that does `primitive` and fails the test unless each is right.
void VerifyOne(const Algorithm& algorithm, Primitive primitive, const GroupLayout& layout,
               const Shape& shape) {
  CollectiveSpec spec{
      .primitive = primitive,
      .bytes = Bytes(primitive == Primitive::kBarrier ? 0 : shape.elements * kElement),
      .element_bytes = kElement,
      .root = layout.size() / 3,
      .channels = shape.channels,
      .slots = shape.slots,
      .slice = Bytes(shape.slice)};
  if (primitive == Primitive::kAllToAllV) {
    spec.matrix = UnevenMatrix(layout.size());
  }
  SCOPED_TRACE(testing::Message() << algorithm.name << " " << ToString(primitive) << " on "
                                  << layout.size() << " ranks in " << layout.node_count()
                                  << " nodes, " << shape.elements << " elements, " << shape.channels
                                  << " channels, " << shape.slots << " slots");
  const auto schedule = MakeSchedule(algorithm.name, spec, layout);
  ASSERT_TRUE(schedule.has_value()) << Text(schedule.error());
  const auto traffic = Verify(**schedule, spec, layout);
  ASSERT_TRUE(traffic.has_value()) << Text(traffic.error());
  ASSERT_EQ((*schedule)->pairs(), (*schedule)->Schedule::pairs());
}

// Verifies every algorithm that can run the primitive on the layout, and returns how many can.
int VerifyAll(Primitive primitive, const GroupLayout& layout, const Shape& shape) {
  int verified = 0;
  for (const Algorithm& algorithm : Algorithms()) {
    const std::string_view name = algorithm.name;
    if (!algorithm.supports(primitive) || (name == "hierarchical" && !layout.uniform()) ||
        (name == "bruck" && shape.channels > 1)) {
      continue;
    }
    VerifyOne(algorithm, primitive, layout, shape);
    ++verified;
  }
  return verified;
}

TEST(EveryAlgorithm, IsRightForOneToThirtyThreeRanksOnPlainHosts) {
  for (const Primitive primitive : kPrimitives) {
    for (std::uint32_t ranks = 1; ranks <= 33; ranks += kRanksStep) {
      EXPECT_GT(VerifyAll(primitive, GroupLayout::Flat(ranks), {.elements = 2 * ranks + 5}), 0);
    }
  }
}

TEST(EveryAlgorithm, IsRightForOneToThirtyThreeRanksInOneNode) {
  for (const Primitive primitive : kPrimitives) {
    for (std::uint32_t ranks = 1; ranks <= 33; ranks += kRanksStep) {
      EXPECT_GT(VerifyAll(primitive, GroupLayout::Grid(1, ranks),
                          {.elements = 3 * ranks + 2, .slots = 1, .slice = 5 * kElement}),
                0);
    }
  }
}

TEST(EveryAlgorithm, IsRightForManyRanks) {
  for (const Primitive primitive : kPrimitives) {
    EXPECT_GT(VerifyAll(primitive, GroupLayout::Flat(64), {.elements = 130}), 0);
    if (kSanitized) continue;
    EXPECT_GT(VerifyAll(primitive, GroupLayout::Grid(25, 4), {.elements = 217}), 0);
    EXPECT_GT(VerifyAll(primitive, GroupLayout::Grid(16, 8), {.elements = 128}), 0);
  }
}

TEST(EveryAlgorithm, IsRightOnGridsWithSeveralChannelsAndSlots) {
  for (const Primitive primitive : kPrimitives) {
    for (const auto& [nodes, per_node] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {1, 8}, {2, 4}, {3, 4}, {5, 3}, {8, 2}, {7, 1}}) {
      for (const std::uint32_t channels : {2U, 4U}) {
        for (const std::uint32_t slots : {1U, 2U}) {
          if (kSanitized && channels != 2 * slots) continue;
          EXPECT_GT(
              VerifyAll(
                  primitive, GroupLayout::Grid(nodes, per_node),
                  {.elements = 101, .channels = channels, .slots = slots, .slice = 7 * kElement}),
              0);
        }
      }
    }
  }
}

TEST(EveryAlgorithm, IsRightForBuffersOfNoElementsAndOfFewerThanRanks) {
  for (const Primitive primitive : kPrimitives) {
    for (const std::int64_t elements : {0, 1, 5}) {
      EXPECT_GT(
          VerifyAll(primitive, GroupLayout::Grid(3, 3), {.elements = elements, .channels = 2}), 0);
      EXPECT_GT(VerifyAll(primitive, GroupLayout::Flat(12), {.elements = elements}), 0);
    }
  }
}

TEST(EveryAlgorithm, IsRightWhereNodesAreUnevenRanksInterleaveAndGpusAreMeshed) {
  const GroupLayout uneven{.node = {0, 1, 0, 2, 1, 0, 2}, .local = {3, 0, 1, 7, 2, 0, 5}};
  const GroupLayout interleaved{.node = {0, 1, 2, 0, 1, 2, 0, 1, 2},
                                .local = {2, 2, 2, 0, 0, 0, 1, 1, 1}};
  GroupLayout meshed = GroupLayout::Grid(3, 5);
  meshed.meshed = true;
  for (const Primitive primitive : kPrimitives) {
    for (const GroupLayout& layout : {uneven, interleaved, meshed}) {
      EXPECT_GT(VerifyAll(primitive, layout, {.elements = 40}), 0);
      EXPECT_GT(VerifyAll(primitive, layout, {.elements = 40, .channels = 3, .slots = 1}), 0);
    }
  }
}

TEST(EveryPrimitive, HasAnAlgorithm) {
  for (const Primitive primitive : kPrimitives) {
    bool found = false;
    for (const Algorithm& algorithm : Algorithms()) {
      found = found || algorithm.supports(primitive);
    }
    EXPECT_TRUE(found) << ToString(primitive);
  }
}

}  // namespace
}  // namespace trunkline
