#pragma once

#include <cstdint>
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

}  // namespace trunkline
