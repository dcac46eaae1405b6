#pragma once

#include <cstdint>
#include <map>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

inline constexpr std::uint32_t kUnreachablePair = UINT32_MAX;

// Ordered pairs of NICs (or hosts) in different nodes, by the cables of their shortest paths.
[[nodiscard]] std::map<std::uint32_t, std::int64_t> CountPairs(const Fabric& fabric);

}  // namespace trunkline
