#pragma once

#include <optional>
#include <vector>

#include "trunkline/fabric/fabric.h"

// Ways of halving the nodes, by node: which side it is on.
namespace trunkline {

[[nodiscard]] std::vector<bool> HalvedInOrder(std::uint32_t nodes);
// Nothing when METIS fails, as it may on graphs without edges.
[[nodiscard]] std::optional<std::vector<bool>> HalvedByMetis(const Fabric& fabric);

}  // namespace trunkline
