#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// The virtual channel of each link of a path between two NICs or hosts: of a torus, by dimension
// and dateline; else the number of cables between groups that were crossed before.
[[nodiscard]] std::vector<std::uint8_t> ChannelsOfPath(const Fabric& fabric,
                                                       std::span<const LinkId> path);

}  // namespace trunkline
