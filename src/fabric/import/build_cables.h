#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/import/cable_list.h"
#include "trunkline/fabric/import.h"

namespace trunkline {

// The fabric of a list of cables. The tier of a switch is its distance from the servers; what a
// switch or pod has upwards is one trunk, and so is what leads down to it. Where the options name a
// node template, the NICs of each server are matched with its in the order of their names.
// TL143x, TL1400 (the template).
[[nodiscard]] Result<ImportedFabric> BuildFromCables(const CableList& list, const std::string& file,
                                                     const ImportOptions& options);

// The tier of each device of the list, 0 for all but switches. `neighbours` are by device, one for
// each cable.
[[nodiscard]] std::vector<std::uint8_t> FindTiers(
    const CableList& list, const std::vector<std::vector<std::uint32_t>>& neighbours);

}  // namespace trunkline
