#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trunkline/base/int128.h"

namespace trunkline {

// Count, mean, extremes and quantiles of a stream of non-negative integers in O(1) memory: a
// log-linear histogram (HdrHistogram's scheme) whose quantiles are within 1/128 of the value.
// Mean, minimum and maximum are exact.
class StreamingStatistics {
 public:
  // REQUIRES: value >= 0.
  void Add(std::int64_t value, std::int64_t times = 1);
  void Merge(const StreamingStatistics& other);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t min() const { return min_; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  // 0 when empty.
  [[nodiscard]] double mean() const;
  // The smallest recorded value v such that at least q of the values are <= v, within 1/128.
  // REQUIRES: 0 <= q <= 1. 0 when empty.
  [[nodiscard]] std::int64_t Quantile(double q) const;

 private:
  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  Int128 sum_ = 0;
};

// How far |T| of Student's t distribution with `degrees` of freedom goes with probability
// `confidence`. REQUIRES: 0 < confidence < 1, degrees > 0.
[[nodiscard]] double StudentHalfWidth(double confidence, std::uint32_t degrees);

// The mean of independent runs, and how far from it their true mean may be.
struct MeanInterval {
  double mean = 0;
  std::optional<double> half_width;  // nothing of fewer than two samples
};
// By Student's t, which assumes that means of runs are about normal. REQUIRES: not empty.
[[nodiscard]] MeanInterval MeanWithConfidence(std::span<const double> samples,
                                              double confidence = 0.95);

}  // namespace trunkline
