#pragma once

#include <cstdint>

namespace trunkline {

// In a table of indices: no such thing.
inline constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace trunkline
