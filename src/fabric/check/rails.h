#pragma once

#include <vector>

#include "trunkline/fabric/check.h"

namespace trunkline {

// NICs on leaves of another rail than theirs, where leaves are of one rail each; the findings are
// appended.
[[nodiscard]] RailCheck CheckRails(const Fabric& fabric, std::vector<FabricFinding>& findings);

}  // namespace trunkline
