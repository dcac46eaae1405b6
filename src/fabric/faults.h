#pragma once

#include <span>
#include <string>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// One direction of every cable that a fault's target names; empty when it names none.
[[nodiscard]] std::vector<LinkId> CablesOf(const Fabric& fabric, const std::string& target);

// `fabric` without the cables that are marked `failed`, both by link, and at these rates. Devices
// keep their ids; `original` says which link each one was.
[[nodiscard]] Fabric RebuildFabric(const Fabric& fabric, const std::vector<bool>& failed,
                                   std::span<const Rate> rates, std::vector<LinkId>& original);

}  // namespace trunkline
