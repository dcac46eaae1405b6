#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trunkline {

// The dimensions a rank number is made of.
enum class Dimension : std::uint8_t { kTensor, kContext, kData, kPipeline };
inline constexpr std::size_t kDimensionCount = 4;

// Fastest-varying dimension first: ranks that differ only in it are neighbours.
using RankOrder = std::array<Dimension, kDimensionCount>;

// "tp-cp-dp-pp": each dimension exactly once; else nothing.
[[nodiscard]] std::optional<RankOrder> ParseRankOrder(std::string_view text);

}  // namespace trunkline
