#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/fault.h"

namespace trunkline {

// One direction of every cable that a fault's target names; empty when it names none.
[[nodiscard]] std::vector<LinkId> CablesOf(const Fabric& fabric, const std::string& target);

// `fabric` without the cables that are marked `failed`, both by link, and at these rates. Devices
// keep their ids; `original` says which link each one was.
[[nodiscard]] Fabric RebuildFabric(const Fabric& fabric, const std::vector<bool>& failed,
                                   std::span<const Rate> rates, std::vector<LinkId>& original);

// Calls visit(at, down) whenever cables have gone down or come back, with which links are down from
// then on. REQUIRES: `changes` are in order of time.
void ForEachOutage(const Fabric& fabric, std::span<const CableChange> changes,
                   const std::function<void(Time, const std::vector<bool>&)>& visit);

}  // namespace trunkline
