#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "trunkline/base/check.h"

// Quantities that cannot be mixed. Simulated time, sizes and rates are integers, so that sums are
// exact and results do not depend on the order in which they are added.
namespace trunkline {

// A point in simulated time or a duration, in integer picoseconds. Arithmetic is checked; the
// horizon is 100 days (8.64e18 ps).
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time Picoseconds(std::int64_t ps) { return Time(ps); }
  static constexpr Time Nanoseconds(std::int64_t ns) { return Time(ns * 1'000); }
  static constexpr Time Microseconds(std::int64_t us) { return Time(us * 1'000'000); }
  // Rounds up to the next picosecond. REQUIRES: 0 <= seconds <= 8.64e6.
  static Time FromSeconds(double seconds);
  static constexpr Time Max() { return Time(INT64_MAX); }
  static constexpr Time Horizon() { return Time(8'640'000'000'000'000'000); }

  [[nodiscard]] constexpr std::int64_t ps() const { return ps_; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const Time&) const = default;
  friend constexpr Time operator+(Time a, Time b) {
    std::int64_t sum = 0;
    TL_CHECK(!__builtin_add_overflow(a.ps_, b.ps_, &sum), "simulated time overflows", a.ps_, b.ps_);
    return Time(sum);
  }
  friend constexpr Time operator-(Time a, Time b) {
    std::int64_t difference = 0;
    TL_CHECK(!__builtin_sub_overflow(a.ps_, b.ps_, &difference), "simulated time overflows", a.ps_,
             b.ps_);
    return Time(difference);
  }
  friend constexpr Time operator*(Time a, std::int64_t n) {
    std::int64_t product = 0;
    TL_CHECK(!__builtin_mul_overflow(a.ps_, n, &product), "simulated time overflows", a.ps_, n);
    return Time(product);
  }
  constexpr Time& operator+=(Time b) { return *this = *this + b; }
  constexpr Time& operator-=(Time b) { return *this = *this - b; }

 private:
  explicit constexpr Time(std::int64_t ps) : ps_(ps) {}
  std::int64_t ps_ = 0;
};

// A number of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) {
    std::int64_t sum = 0;
    TL_CHECK(!__builtin_add_overflow(a.count_, b.count_, &sum), "byte count overflows");
    return Bytes(sum);
  }
  friend constexpr Bytes operator-(Bytes a, Bytes b) {
    std::int64_t difference = 0;
    TL_CHECK(!__builtin_sub_overflow(a.count_, b.count_, &difference), "byte count overflows");
    return Bytes(difference);
  }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) {
    std::int64_t product = 0;
    TL_CHECK(!__builtin_mul_overflow(a.count_, n, &product), "byte count overflows");
    return Bytes(product);
  }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }

 private:
  std::int64_t count_ = 0;
};

// A data rate in bits per second (so that 400 Gb/s and 25 GB/s are both exact).
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate BitsPerSecond(std::int64_t bits) { return Rate(bits); }
  static constexpr Rate GigabitsPerSecond(std::int64_t gb) { return Rate(gb * 1'000'000'000); }
  static constexpr Rate GigabytesPerSecond(std::int64_t gb) { return Rate(gb * 8'000'000'000); }

  [[nodiscard]] constexpr std::int64_t bits_per_second() const { return bits_; }
  [[nodiscard]] constexpr double bytes_per_second() const { return static_cast<double>(bits_) / 8; }

  constexpr auto operator<=>(const Rate&) const = default;
  friend constexpr Rate operator+(Rate a, Rate b) {
    std::int64_t sum = 0;
    TL_CHECK(!__builtin_add_overflow(a.bits_, b.bits_, &sum), "rate overflows");
    return Rate(sum);
  }
  friend constexpr Rate operator*(Rate a, std::int64_t n) {
    std::int64_t product = 0;
    TL_CHECK(!__builtin_mul_overflow(a.bits_, n, &product), "rate overflows");
    return Rate(product);
  }

 private:
  explicit constexpr Rate(std::int64_t bits) : bits_(bits) {}
  std::int64_t bits_ = 0;
};

// Floating-point operations. A double: a step of a large model exceeds 2^63.
class Flops {
 public:
  constexpr Flops() = default;
  explicit constexpr Flops(double count) : count_(count) {}
  [[nodiscard]] constexpr double count() const { return count_; }
  constexpr auto operator<=>(const Flops&) const = default;
  friend constexpr Flops operator+(Flops a, Flops b) { return Flops(a.count_ + b.count_); }
  friend constexpr Flops operator*(Flops a, double n) { return Flops(a.count_ * n); }
  constexpr Flops& operator+=(Flops b) { return *this = *this + b; }

 private:
  double count_ = 0;
};

// Floating-point operations per second.
class FlopRate {
 public:
  constexpr FlopRate() = default;
  explicit constexpr FlopRate(double per_second) : per_second_(per_second) {}
  [[nodiscard]] constexpr double per_second() const { return per_second_; }
  constexpr auto operator<=>(const FlopRate&) const = default;

 private:
  double per_second_ = 0;
};

// Time to serialise `size` at `rate`: ceil(bits x 10^12 / rate) in 128-bit integers.
// REQUIRES: rate > 0, size >= 0.
[[nodiscard]] Time TransferTime(Bytes size, Rate rate);

// Why a text is not a quantity, and what would be.
struct UnitError {
  std::string message;
  std::string hint;
};
template <typename T>
using UnitResult = std::expected<T, UnitError>;

// Exact readers: a decimal number, optional space, a unit. `1.5 us`, `400 Gb/s`, `64 KiB`,
// `25 GB/s`, `989 TFLOP/s`. A bare number, a negative one, an unknown unit, a value that is not a
// whole number of the base unit, a rate of zero or a value that overflows is an error with a hint.
// Gb is bits, GB is 10^9 bytes, KiB is 1024.
[[nodiscard]] UnitResult<Time> ParseTime(std::string_view text);
[[nodiscard]] UnitResult<Bytes> ParseBytes(std::string_view text);
[[nodiscard]] UnitResult<Rate> ParseRate(std::string_view text);
[[nodiscard]] UnitResult<FlopRate> ParseFlopRate(std::string_view text);
// The sizes of nccl-tests' -b and -e: a bare number is bytes, suffixes K, M, G, T are powers of
// 1024.
[[nodiscard]] UnitResult<Bytes> ParseNcclTestsSize(std::string_view text);

// Exact writers: the largest unit in which the value is printed without loss; Parse(ToString(x))
// == x.
[[nodiscard]] std::string ToString(Time time);
[[nodiscard]] std::string ToString(Bytes bytes);
[[nodiscard]] std::string ToString(Rate rate);

// Writers for people: `significant` digits (4 by default), rounded: "1.234 ms", "78.13 MiB",
// "48.67 GB/s", "412.3 TFLOP/s".
[[nodiscard]] std::string Humanize(Time time, int significant = 4);
[[nodiscard]] std::string Humanize(Bytes bytes, int significant = 4);
[[nodiscard]] std::string Humanize(Rate rate, int significant = 4);
[[nodiscard]] std::string Humanize(Flops flops, int significant = 4);
[[nodiscard]] std::string Humanize(FlopRate rate, int significant = 4);

}  // namespace trunkline
