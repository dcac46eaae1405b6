#pragma once

#include <cstddef>
#include <cstdint>

namespace trunkline {

// What a GOAL file may ask for at most: a petabyte a message, as of collectives; the horizon of
// simulated time, 100 days; all messages together what 64 bits count with headers.
inline constexpr std::int64_t kGoalMostBytes = std::int64_t{1} << 50;
inline constexpr std::int64_t kGoalMostNanoseconds = 8'640'000'000'000'000;
inline constexpr std::int64_t kGoalMostTotalBytes = std::int64_t{1} << 60;
// An operation takes 7 bytes of text or 39 of binary, so that their number stays below 2^30.
inline constexpr std::size_t kGoalMostFileBytes = std::size_t{4} << 30;

}  // namespace trunkline
