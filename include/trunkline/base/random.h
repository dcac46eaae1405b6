#pragma once

#include <cstdint>

#include "trunkline/base/int128.h"

// Counter-based random numbers: a draw depends on (seed, entity, index) alone, so results do not
// depend on the order of draws or on the number of threads.
namespace trunkline {

// SplitMix64's finaliser (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// OOPSLA 2014): a bijection of 64-bit words that passes BigCrush as a counter generator.
[[nodiscard]] constexpr std::uint64_t Mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

[[nodiscard]] constexpr std::uint64_t HashCombine(std::uint64_t a, std::uint64_t b) {
  return Mix64(a ^ Mix64(b));
}

// The `index`-th draw of `entity` under `seed`.
[[nodiscard]] constexpr std::uint64_t Draw(std::uint64_t seed, std::uint64_t entity,
                                           std::uint64_t index) {
  return HashCombine(HashCombine(seed, entity), index);
}

// A draw mapped to [0, n) by multiply-shift. REQUIRES: n > 0.
[[nodiscard]] constexpr std::uint64_t Below(std::uint64_t draw, std::uint64_t n) {
  return static_cast<std::uint64_t>((static_cast<Uint128>(draw) * n) >> 64);
}

// A draw mapped to [0, 1) with 53 bits.
[[nodiscard]] constexpr double ToUnit(std::uint64_t draw) {
  return static_cast<double>(draw >> 11) * 0x1.0p-53;
}

}  // namespace trunkline
