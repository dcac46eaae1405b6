#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Divides a fabric into `parts` of about equal work, by device: nodes and switches stay whole, and
// few cables are cut (METIS), the longest there are. `work` is by device, that of its ports where
// there is none; `lengths` of cables are by link, all alike where there are none. Parts may be
// empty on fabrics with fewer vertices. REQUIRES: parts > 0.
[[nodiscard]] std::vector<std::uint16_t> PartitionFabric(const Fabric& fabric, std::uint32_t parts,
                                                         std::span<const std::uint64_t> work = {},
                                                         std::span<const Time> lengths = {});

}  // namespace trunkline
