#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

struct Halving {
  std::vector<bool> side;  // by node
  Rate cut;                // exactly, by max-flow
  std::string how;         // what was tried: "in order and by METIS, cut by max-flow"
};

// That of the halvings tried which cuts least.
[[nodiscard]] Halving ThinnestHalving(const Fabric& fabric);
[[nodiscard]] std::vector<bool> HalvedInOrder(std::uint32_t nodes);
// The fewest of some devices that half of the nodes, rounded down, has; `nodes` are theirs.
[[nodiscard]] std::size_t FewestOfHalf(std::vector<std::uint32_t> nodes, std::uint32_t node_count);

}  // namespace trunkline
