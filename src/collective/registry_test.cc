#include <gtest/gtest.h>

#include <limits>

#include "collective/cut.h"
#include "trunkline/collective/algorithm.h"

namespace trunkline {
namespace {

std::string CodeOf(std::string_view algorithm, const CollectiveSpec& spec,
                   const GroupLayout& layout = GroupLayout::Grid(2, 2)) {
  const auto schedule = MakeSchedule(algorithm, spec, layout);
  return schedule ? "" : schedule.error().front().code;
}

TEST(MakeSchedule, NamesTheClosestAlgorithm) {
  const auto schedule = MakeSchedule("hierarchicel", {}, GroupLayout::Flat(2));
  ASSERT_FALSE(schedule.has_value());
  EXPECT_EQ(schedule.error().front().code, "TL1500");
  EXPECT_EQ(schedule.error().front().hint, "did you mean 'hierarchical'?");
}

TEST(MakeSchedule, ListsWhatDoesAPrimitive) {
  const auto schedule =
      MakeSchedule("tree", {.primitive = Primitive::kAllToAll}, GroupLayout::Flat(2));
  ASSERT_FALSE(schedule.has_value());
  EXPECT_EQ(schedule.error().front().code, "TL1501");
  EXPECT_EQ(schedule.error().front().hint, "use pairwise, direct");
}

TEST(MakeSchedule, RefusesSizesThatCannotBe) {
  EXPECT_EQ(CodeOf("ring", {.bytes = Bytes(-4)}), "TL1502");
  EXPECT_EQ(CodeOf("ring", {.bytes = Bytes(std::numeric_limits<std::int64_t>::max())}), "TL1502");
  EXPECT_EQ(CodeOf("ring", {.bytes = Bytes(10), .element_bytes = 4}), "TL1502");
  EXPECT_EQ(CodeOf("ring", {.bytes = Bytes(10), .element_bytes = 0}), "TL1502");
  EXPECT_EQ(CodeOf("tree", {.bytes = Bytes(10), .slice = Bytes(-1)}), "TL1502");
  EXPECT_EQ(CodeOf("tree", {.bytes = Bytes(std::int64_t{1} << 40), .slice = Bytes(1)}), "TL1502");
}

TEST(MakeSchedule, RefusesRootsChannelsSlotsAndGroupsThatCannotBe) {
  EXPECT_EQ(CodeOf("ring", {.root = 4}), "TL1503");
  EXPECT_EQ(CodeOf("ring", {.channels = 0}), "TL1504");
  EXPECT_EQ(CodeOf("ring", {.channels = 4'000'000'000}), "TL1504");
  EXPECT_EQ(CodeOf("ring", {.slots = 1'000'000}), "TL1504");
  EXPECT_EQ(CodeOf("bruck", {.primitive = Primitive::kAllGather, .channels = 2}), "TL1504");
  EXPECT_EQ(CodeOf("ring", {}, {}), "TL1506");
  EXPECT_EQ(CodeOf("ring", {}, {.node = {0, 0}, .local = {0}}), "TL1506");
  EXPECT_EQ(CodeOf("hierarchical", {}, {.node = {0, 0, 1}, .local = {0, 1, 0}}), "TL1507");
}

TEST(MakeSchedule, RefusesMatricesThatAreMissingMisshapenOrOutOfPlace) {
  const auto exchange = Primitive::kAllToAllV;
  EXPECT_EQ(CodeOf("direct", {.primitive = exchange}), "TL1505");
  EXPECT_EQ(CodeOf("direct", {.primitive = exchange, .matrix = {1, 2, 3}}), "TL1505");
  std::vector<std::int64_t> matrix(16, 1);
  EXPECT_EQ(CodeOf("direct", {.primitive = exchange, .matrix = matrix}), "");
  EXPECT_EQ(CodeOf("ring", {.matrix = matrix}), "TL1505");
  matrix[5] = -1;
  EXPECT_EQ(CodeOf("direct", {.primitive = exchange, .matrix = matrix}), "TL1505");
  matrix.assign(16, std::numeric_limits<std::int64_t>::max() / 2);
  EXPECT_EQ(CodeOf("direct", {.primitive = exchange, .matrix = matrix}), "TL1505");
  matrix.assign(16, 6);
  EXPECT_EQ(CodeOf("direct", {.primitive = exchange, .element_bytes = 4, .matrix = matrix}),
            "TL1505");
}

TEST(MakeSchedule, ReportsEveryProblemAtOnce) {
  const auto schedule =
      MakeSchedule("ring", {.bytes = Bytes(-1), .root = 9, .channels = 0}, GroupLayout::Flat(3));
  ASSERT_FALSE(schedule.has_value());
  EXPECT_GE(schedule.error().size(), 3U);
}

TEST(Primitive, IsReadInTheSpellingsOfItsLibraries) {
  for (const char* text : {"allreduce", "all_reduce", "AllReduce", "all-reduce", "ALLREDUCE"}) {
    EXPECT_EQ(ParsePrimitive(text), Primitive::kAllReduce) << text;
  }
  EXPECT_EQ(ParsePrimitive("alltoall"), Primitive::kAllToAll);
  EXPECT_EQ(ParsePrimitive("alltoallv"), Primitive::kAllToAllV);
  EXPECT_EQ(ParsePrimitive("reduce"), Primitive::kReduce);
  EXPECT_EQ(ParsePrimitive(""), std::nullopt);
  EXPECT_EQ(ParsePrimitive("all_reduces"), std::nullopt);
}

// doc/PERFORMANCE.md of nccl-tests.
TEST(Primitive, HasTheBusBandwidthFactorOfNcclTests) {
  EXPECT_DOUBLE_EQ(BusBandwidthFactor(Primitive::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(BusBandwidthFactor(Primitive::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(BusBandwidthFactor(Primitive::kAllToAll, 16), 0.9375);
  EXPECT_DOUBLE_EQ(BusBandwidthFactor(Primitive::kBroadcast, 8), 1);
  EXPECT_DOUBLE_EQ(BusBandwidthFactor(Primitive::kAllReduce, 1), 0);
}

TEST(EvenCut, DividesElementsEvenlyTheLongerPartsFirst) {
  const EvenCut cut(22, 2, 4);  // 11 elements: 3, 3, 3, 2
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(cut.offset(i + 1) - cut.offset(i), cut.size(i));
    sizes.push_back(cut.size(i));
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{6, 6, 6, 4}));
  EXPECT_EQ(cut.offset(4), 22);
  EXPECT_EQ(EvenCut(0, 8, 5).size(0), 0);
}

TEST(NestedCut, PartsOfPartsAddUpToTheWhole) {
  const NestedCut cut(4 * 29, 4, 5, 3);
  std::int64_t at = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(cut.range(i, j).offset, at);
      at += cut.range(i, j).size;
    }
  }
  EXPECT_EQ(at, 4 * 29);
}

}  // namespace
}  // namespace trunkline
