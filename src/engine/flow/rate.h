#pragma once

#include <compare>
#include <cstdint>

namespace trunkline {

// What one payload byte of a flow takes of a resource, in units of 2^-32 bytes.
struct FlowHop {
  static constexpr int kFractionBits = 32;
  static constexpr std::uint64_t kOne = std::uint64_t{1} << kFractionBits;

  std::uint32_t resource = 0;
  std::uint64_t weight = kOne;
  bool operator==(const FlowHop&) const = default;
};

// Payload rate in units of 2^-10 bit/s, so that a 100,000th share of a link keeps ten digits.
struct FlowRate {
  static constexpr int kFractionBits = 10;

  std::uint64_t units = 0;
  [[nodiscard]] double bits_per_second() const {
    return static_cast<double>(units) / (1 << kFractionBits);
  }
  auto operator<=>(const FlowRate&) const = default;
};

}  // namespace trunkline
