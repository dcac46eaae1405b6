#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/problem.h"

namespace trunkline {

// What each member of a pattern does, told without naming its peers: two members with equal
// programs do the same, op for op, with the pairs of equal role.
struct PatternRoles {
  std::vector<std::uint64_t> program;           // by member
  std::vector<std::uint64_t> source_role;       // by pair: what it is to its source
  std::vector<std::uint64_t> destination_role;  // by pair: what it is to its destination
};

// A pair's role is where each program first uses it. Nothing when that would take reading more than
// `max_ops` ops.
[[nodiscard]] std::optional<PatternRoles> FindRoles(const Pattern& pattern, std::uint64_t max_ops);

}  // namespace trunkline
