#include "trunkline/base/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

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

// P(|T| <= t): Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
double StudentWithin(double t, std::uint32_t degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::uint32_t n = odd ? 3 : 2; n < degrees; n += 2) {
    term *= cosine * cosine * (n - 1) / n;
    sum += term;
  }
  sum *= std::sin(theta);
  return odd ? (theta + sum) * 2 / std::numbers::pi : sum;
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

double StudentHalfWidth(double confidence, std::uint32_t degrees) {
  TL_CHECK(confidence > 0 && confidence < 1 && degrees > 0, "no such quantile", confidence);
  double low = 0;
  double high = 1;
  while (StudentWithin(high, degrees) < confidence) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (StudentWithin(middle, degrees) < confidence ? low : high) = middle;
  }
}

MeanInterval MeanWithConfidence(std::span<const double> samples, double confidence) {
  TL_CHECK(!samples.empty(), "the mean of nothing");
  const auto n = static_cast<double>(samples.size());
  MeanInterval interval;
  for (const double sample : samples) interval.mean += sample / n;
  if (samples.size() < 2) return interval;
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - interval.mean) * (sample - interval.mean);
  }
  const auto degrees = static_cast<std::uint32_t>(samples.size() - 1);
  interval.half_width = StudentHalfWidth(confidence, degrees) * std::sqrt(squares / (n - 1) / n);
  return interval;
}

}  // namespace trunkline
