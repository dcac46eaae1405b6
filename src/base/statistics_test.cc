#include "trunkline/base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// The definition, on sorted data.
std::int64_t SortedQuantile(const std::vector<std::int64_t>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

TEST(StreamingStatistics, IsZeroWhenEmpty) {
  const StreamingStatistics s;
  EXPECT_EQ(s.count(), 0);
  EXPECT_EQ(s.mean(), 0);
  EXPECT_EQ(s.Quantile(0.5), 0);
}

TEST(StreamingStatistics, SmallValuesAreExact) {
  StreamingStatistics s;
  for (std::int64_t v = 1; v <= 100; ++v) s.Add(v);
  EXPECT_EQ(s.Quantile(0), 1);
  EXPECT_EQ(s.Quantile(0.5), 50);
  EXPECT_EQ(s.Quantile(0.95), 95);
  EXPECT_EQ(s.Quantile(0.99), 99);
  EXPECT_EQ(s.Quantile(1), 100);
  EXPECT_DOUBLE_EQ(s.mean(), 50.5);
}

TEST(StreamingStatistics, QuantilesAreWithinOneIn128OfSortedData) {
  std::vector<std::int64_t> values;
  StreamingStatistics s;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    // Log-uniform over 1 .. 2^62, so that every octave is met.
    const auto v = static_cast<std::int64_t>(Draw(7, 1, i) >> (2 + Below(Draw(7, 2, i), 62)));
    values.push_back(v);
    s.Add(v);
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const std::int64_t exact = SortedQuantile(values, q);
    const std::int64_t estimate = s.Quantile(q);
    EXPECT_GE(estimate, exact) << q;
    EXPECT_LE(estimate - exact, exact / 128 + 1) << q;
  }
  EXPECT_EQ(s.min(), values.front());
  EXPECT_EQ(s.max(), values.back());
}

TEST(StreamingStatistics, CountsRepetitionsAsRepeatedValues) {
  StreamingStatistics repeated;
  repeated.Add(1'000, 3);
  repeated.Add(5'000, 1);
  EXPECT_EQ(repeated.count(), 4);
  EXPECT_DOUBLE_EQ(repeated.mean(), 2'000);
  EXPECT_EQ(repeated.Quantile(1), 5'000);
  EXPECT_NEAR(static_cast<double>(repeated.Quantile(0.75)), 1'000, 1'000.0 / 128);
}

TEST(StreamingStatistics, MergeEqualsAddingEverythingToOne) {
  StreamingStatistics all;
  StreamingStatistics left;
  StreamingStatistics right;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const auto v = static_cast<std::int64_t>(Below(Draw(3, 0, i), 1'000'000'000));
    all.Add(v);
    (i % 3 == 0 ? left : right).Add(v);
  }
  left.Merge(right);
  left.Merge(StreamingStatistics());
  EXPECT_EQ(left.count(), all.count());
  EXPECT_DOUBLE_EQ(left.mean(), all.mean());
  for (const double q : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(left.Quantile(q), all.Quantile(q));
}

TEST(StreamingStatistics, MeanOfHugeValuesDoesNotOverflow) {
  StreamingStatistics s;
  s.Add(INT64_MAX);
  s.Add(INT64_MAX);
  EXPECT_DOUBLE_EQ(s.mean(), static_cast<double>(INT64_MAX));
  EXPECT_EQ(s.Quantile(0.5), INT64_MAX);
}

// Two-sided 95 % points as printed in any table of Student's t.
TEST(StudentHalfWidth, IsThatOfThePublishedTables) {
  EXPECT_NEAR(StudentHalfWidth(0.95, 1), 12.706, 0.0005);
  EXPECT_NEAR(StudentHalfWidth(0.95, 2), 4.303, 0.0005);
  EXPECT_NEAR(StudentHalfWidth(0.95, 3), 3.182, 0.0005);
  EXPECT_NEAR(StudentHalfWidth(0.95, 9), 2.262, 0.0005);
  EXPECT_NEAR(StudentHalfWidth(0.95, 30), 2.042, 0.0005);
  EXPECT_NEAR(StudentHalfWidth(0.99, 4), 4.604, 0.0005);
  EXPECT_NEAR(StudentHalfWidth(0.95, 100'000), 1.960, 0.0005);
}

// Mean 5, standard deviation sqrt(10), standard error sqrt(2), 4 degrees of freedom.
TEST(MeanWithConfidence, IsTheStandardErrorTimesStudentsT) {
  const std::vector<double> samples = {1, 3, 5, 7, 9};
  const MeanInterval interval = MeanWithConfidence(samples);
  EXPECT_DOUBLE_EQ(interval.mean, 5);
  ASSERT_TRUE(interval.half_width.has_value());
  EXPECT_NEAR(*interval.half_width, 2.776 * std::sqrt(2.0), 0.001);
  EXPECT_FALSE(MeanWithConfidence(std::vector<double>{4.0}).half_width.has_value());
  EXPECT_EQ(MeanWithConfidence(std::vector<double>{4, 4, 4}).half_width, 0);
}

}  // namespace
}  // namespace trunkline
