#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/problem.h"

namespace trunkline {

// What each member of a pattern does on each channel, told without naming its peers: two programs
// that are equal do the same, op for op, with the pairs of equal role, and signal
// to channels as far on.
struct PatternRoles {
  std::vector<std::uint64_t> program;           // by member, then by channel of the pattern
  std::vector<std::uint64_t> source_role;       // by pair: what it is to its source
  std::vector<std::uint64_t> destination_role;  // by pair: what it is to its destination

  // Channels whose programs signal to one another are of one bundle.
  struct Place {
    std::uint32_t bundle = 0;  // in order of their first channels
    std::uint32_t index = 0;   // how many channels of the bundle come before
  };
  std::vector<Place> places;  // by channel of the pattern
  std::uint32_t bundles = 0;
};

// A pair's role is where each program first uses it. Nothing when that would take reading more than
// `max_ops` ops.
[[nodiscard]] std::optional<PatternRoles> FindRoles(const Pattern& pattern, std::uint64_t max_ops);

}  // namespace trunkline
