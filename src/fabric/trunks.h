#pragma once

#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// By trunk, whether every flow that crosses it may take any of its links: who shares spines with
// it has as many cables to each of them, and all of these have as many cables up. False where
// cables are missing: some of the links then lead to some destinations only.
[[nodiscard]] std::vector<bool> FindWholeTrunks(const Fabric& fabric);

// Whether all are. An even split over all minimal paths then loads the links of every trunk evenly.
[[nodiscard]] bool TrunksAreWhole(const Fabric& fabric);

// Whether the links of each trunk are equally fast.
[[nodiscard]] bool TrunksAreEven(const Fabric& fabric);

}  // namespace trunkline
