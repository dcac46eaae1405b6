#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// How high each device is, for routing that leads up first and then down; no two are equal. Higher
// tiers are higher. Where switches have no tiers, the one with the most cables of each network is
// its root, and the fewer cables lead to it the higher is a switch. Lower ids break ties.
[[nodiscard]] std::vector<std::uint64_t> SwitchHeights(const Fabric& fabric);

}  // namespace trunkline
