#pragma once

#include <vector>

#include "trunkline/fabric/check.h"

namespace trunkline {

// Servers, NICs and the switches of each tier of both; empty where all are as many.
[[nodiscard]] std::vector<ShapeCount> CompareShapes(const Fabric& found, const Fabric& expected);

}  // namespace trunkline
