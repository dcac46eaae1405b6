#pragma once

#include "trunkline/fabric/weak_points.h"

namespace trunkline {

// How many paths join the switches of NICs that share none; of many pairs, a sample is taken that
// depends on the fabric alone.
[[nodiscard]] PathDiversity MeasureDiversity(const Fabric& fabric);

}  // namespace trunkline
