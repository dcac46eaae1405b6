#pragma once

#include <metis.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// A fabric as METIS reads it: nodes first, then switches. Edges weigh their rates, vertices one.
struct MetisGraph {
  std::vector<idx_t> begin = {0};
  std::vector<idx_t> neighbour;
  std::vector<idx_t> rate;
  std::vector<idx_t> weight;
  std::vector<idx_t> vertex_of_device;
};

[[nodiscard]] MetisGraph MakeMetisGraph(const Fabric& fabric);

// The part of each vertex, of `parts` of like weight with few rates between them; nothing where
// METIS fails or there are no edges.
[[nodiscard]] std::optional<std::vector<idx_t>> Partition(MetisGraph& graph, std::uint32_t parts);

}  // namespace trunkline
