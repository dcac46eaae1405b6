#pragma once

#include <cstdint>

#include "trunkline/base/units.h"

// Quantities as tests write them.
namespace trunkline {

constexpr Time Us(std::int64_t microseconds) { return Time::Microseconds(microseconds); }
constexpr Time Us(int microseconds) { return Time::Microseconds(microseconds); }
constexpr Time Us(double microseconds) {
  return Time::Picoseconds(static_cast<std::int64_t>(microseconds * 1e6));
}

inline constexpr Rate k100Gb = Rate::GigabitsPerSecond(100);  // 12,500 bytes a microsecond
inline constexpr Bytes kMegabyte{1'000'000};                  // 80 us at 100 Gb/s

}  // namespace trunkline
