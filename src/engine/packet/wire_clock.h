#pragma once

#include <cstdint>

#include "trunkline/base/units.h"

namespace trunkline {

// Says when frames that follow each other on a wire end, to the picosecond: the end of a frame is
// the beginning of its busy period plus ceil(bytes so far x 8 x 10^12 / rate), so that rounding
// does not accumulate. Whole picoseconds and the rest are kept apart, which spares the division
// wherever a byte takes a whole number of them (100, 200, 400, 800 Gb/s).
class WireClock {
 public:
  WireClock() = default;
  explicit WireClock(Rate rate) { SetRate(rate); }

  // REQUIRES: rate > 0.
  void SetRate(Rate rate) {
    rate_ = static_cast<std::uint64_t>(rate.bits_per_second());
    whole_ = kBytePicoseconds / rate_;
    rest_ = kBytePicoseconds % rate_;
    remainder_ = 0;
  }
  [[nodiscard]] Rate rate() const { return Rate::BitsPerSecond(static_cast<std::int64_t>(rate_)); }

  // Picoseconds of a byte where they are whole (and fit); 0 elsewhere.
  [[nodiscard]] std::uint16_t byte_time() const {
    return rest_ == 0 && whole_ <= UINT16_MAX ? static_cast<std::uint16_t>(whole_)
                                              : std::uint16_t{0};
  }

  // The end of a frame of `bytes` that begins at `now`, when the one before ended at `end`.
  [[nodiscard]] std::int64_t Advance(std::int64_t now, std::int64_t end, std::uint32_t bytes) {
    if (rest_ == 0) return now + static_cast<std::int64_t>(bytes * whole_);
    std::int64_t begin = now;
    if (now != end || remainder_ == 0) {
      remainder_ = 0;
    } else {
      --begin;  // the frame before ended within the last picosecond
    }
    remainder_ += bytes * rest_;
    const std::uint64_t carry = remainder_ / rate_;
    remainder_ -= carry * rate_;
    return begin + static_cast<std::int64_t>(bytes * whole_ + carry) + (remainder_ > 0 ? 1 : 0);
  }

  // How long `bytes` take by themselves.
  [[nodiscard]] std::int64_t Duration(std::uint32_t bytes) const {
    return static_cast<std::int64_t>(bytes * whole_ + (bytes * rest_ + rate_ - 1) / rate_);
  }

 private:
  static constexpr std::uint64_t kBytePicoseconds = 8'000'000'000'000;

  std::uint64_t rate_ = 1;
  std::uint64_t whole_ = 0;
  std::uint64_t rest_ = 0;
  std::uint64_t remainder_ = 0;  // of the last picosecond, in units of 1/rate_ picoseconds
};

}  // namespace trunkline
