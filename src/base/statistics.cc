#include "trunkline/base/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Each power of two is cut into 2^kPrecisionBits buckets; values below that are exact.
constexpr int kPrecisionBits = 7;
constexpr std::uint64_t kBucketsPerOctave = 1U << kPrecisionBits;

std::size_t BucketOf(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < kBucketsPerOctave) return v;
  const auto shift = static_cast<std::uint64_t>(std::bit_width(v)) - 1 - kPrecisionBits;
  return shift * kBucketsPerOctave + (v >> shift);
}

// The largest value that falls into a bucket.
std::int64_t BucketMax(std::size_t bucket) {
  if (bucket < 2 * kBucketsPerOctave) return static_cast<std::int64_t>(bucket);
  const std::uint64_t shift = bucket / kBucketsPerOctave - 1;
  const std::uint64_t mantissa = bucket - shift * kBucketsPerOctave;
  return static_cast<std::int64_t>(((mantissa + 1) << shift) - 1);
}

}  // namespace

void StreamingStatistics::Add(std::int64_t value, std::int64_t times) {
  TL_CHECK(value >= 0 && times >= 0, "negative value or count", value, times);
  if (times == 0) return;
  const std::size_t bucket = BucketOf(value);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += times;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += times;
  sum_ += static_cast<Int128>(value) * times;
}

void StreamingStatistics::Merge(const StreamingStatistics& other) {
  if (other.count_ == 0) return;
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
}

double StreamingStatistics::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::int64_t StreamingStatistics::Quantile(double q) const {
  TL_CHECK(q >= 0 && q <= 1, "quantile outside [0, 1]", q);
  if (count_ == 0) return 0;
  const auto wanted = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_))));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return std::clamp(BucketMax(i), min_, max_);
  }
  return max_;
}

}  // namespace trunkline
