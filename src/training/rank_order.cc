#include "training/rank_order.h"

#include <algorithm>
#include <ranges>

namespace trunkline {

std::optional<RankOrder> ParseRankOrder(std::string_view text) {
  constexpr std::array<std::string_view, kDimensionCount> kNames = {"tp", "cp", "dp", "pp"};
  RankOrder order{};
  std::array<bool, kDimensionCount> seen{};
  std::size_t count = 0;
  for (const auto part : std::views::split(text, '-')) {
    const auto name = std::ranges::find(kNames, std::string_view(part.begin(), part.end()));
    if (name == kNames.end() || count == kDimensionCount) return std::nullopt;
    const auto index = static_cast<std::size_t>(name - kNames.begin());
    if (seen[index]) return std::nullopt;
    seen[index] = true;
    order[count++] = static_cast<Dimension>(index);
  }
  if (count != kDimensionCount) return std::nullopt;
  return order;
}

}  // namespace trunkline
