#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/disjoint_sets.h"

namespace trunkline {

// A cable by the devices that it joins, the lower first.
using Joint = std::pair<std::uint32_t, std::uint32_t>;
using Joints = std::vector<Joint>;

// By device, those that lead to no end but back: switches without ends that cables join to one
// device, and so on.
[[nodiscard]] std::vector<bool> FindDeadEnds(const Joints& cables, const std::vector<bool>& is_end);

// Unites leaves whose ends all hang on the same ones of them, as those of a dual-ToR pair or of
// the planes that a NIC's ports are split over: what an end sends is split over these, and so over
// all that leads up from them. `cables`: between ends and leaves, in any order.
void UniteTwinLeaves(const Joints& cables, DisjointSets& leaves);

}  // namespace trunkline
