#include <algorithm>
#include <cstdint>
#include <vector>

#include "fabric/import/build_cables.h"

namespace trunkline {
namespace {

// A management server or two on a spine do not make it a leaf: of a leaf's cables at least one in
// eight leads to an end (a dragonfly router has one in four, a switch of a three-dimensional torus
// one in seven).
constexpr std::size_t kLeastEndShare = 8;

}  // namespace

std::vector<std::uint8_t> FindTiers(const CableList& list,
                                    const std::vector<std::vector<std::uint32_t>>& neighbours) {
  const auto is_switch = [&](std::uint32_t d) {
    return list.devices[d].kind == DeviceKind::kSwitch;
  };
  std::vector<std::uint8_t> tiers(list.devices.size(), 0);
  std::vector<std::uint32_t> reached;
  const auto seed = [&](bool any_share) {
    for (std::uint32_t d = 0; d < list.devices.size(); ++d) {
      if (!is_switch(d)) continue;
      const auto ends =
          static_cast<std::size_t>(std::ranges::count_if(neighbours[d], [&](std::uint32_t n) {
            return !is_switch(n) && list.devices[n].kind != DeviceKind::kNvSwitch;
          }));
      if (ends == 0 || (!any_share && ends * kLeastEndShare < neighbours[d].size())) continue;
      tiers[d] = 1;
      reached.push_back(d);
    }
  };
  seed(false);
  if (reached.empty()) seed(true);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (std::uint32_t next : neighbours[reached[i]]) {
      if (!is_switch(next) || tiers[next] != 0) continue;
      tiers[next] = static_cast<std::uint8_t>(std::min(tiers[reached[i]] + 1, UINT8_MAX));
      reached.push_back(next);
    }
  }
  // Out of reach of any server: leaves in waiting.
  bool flat = false;
  for (std::uint32_t d = 0; d < tiers.size(); ++d) {
    if (!is_switch(d)) continue;
    if (tiers[d] == 0) tiers[d] = 1;
    flat |= std::ranges::any_of(neighbours[d], is_switch);
  }
  // A torus, a dragonfly: all have ends and none is above another.
  if (flat && std::ranges::max(tiers) == 1) std::ranges::fill(tiers, std::uint8_t{0});
  return tiers;
}

}  // namespace trunkline
