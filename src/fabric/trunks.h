#pragma once

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Whether the trunks between the same two tiers are alike in size. An even split over all minimal
// paths then loads the links of every trunk evenly; where cables are missing it may not, and some
// pairs of ends cannot use all links of a trunk.
[[nodiscard]] bool TrunksAreAlike(const Fabric& fabric);

}  // namespace trunkline
