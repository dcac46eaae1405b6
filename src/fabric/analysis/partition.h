#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Divides a fabric into `parts` of about equal work, by device: nodes and switches stay whole, and
// few cables are cut (METIS). Parts may be empty on fabrics with fewer vertices. REQUIRES: parts >
// 0.
[[nodiscard]] std::vector<std::uint16_t> PartitionFabric(const Fabric& fabric, std::uint32_t parts);

}  // namespace trunkline
