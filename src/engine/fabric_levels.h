#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// The blocks of a fabric: its nodes; what hangs together below the spines (a rack or a scale unit);
// what hangs together below the cores (a pod). Built once a fabric in O(levels x links).
struct FabricLevels {
  struct Level {
    std::vector<std::uint32_t> block_of;  // by device
    std::vector<double> egress;           // by block
    std::vector<double> ingress;
  };

  FabricLevels(const Fabric& fabric, const RouterOptions& options);

  // Whether pairs of endpoints that sit alike fare alike (alike.h); not where they meet on the way
  // to host memory, nor where NICs of one place hang on several rails that are cuts.
  bool alike;
  std::vector<Level> levels;  // nodes first
  // What hangs together below the spines, or the cores, by cables alone: where the NICs of a node
  // hang on several leaves, as those of rails do, a leaf with its NICs. Only those levels at which
  // a block can send or receive less than its NICs, and is no block of `levels`; none where cables
  // do not join all NICs.
  std::vector<Level> rails;
  bool leaves_out_rails = false;  // there are such levels, but cables do not join all
  // Whether cables join all NICs, as far as nodes have several: else what goes to another rail
  // leaves its node by the NIC of a GPU there that forwards it (route.h).
  bool joined = true;
  std::vector<std::uint32_t> nic_numbers;  // by device: dense over NICs and hosts
  std::uint32_t nics = 0;
};

// Bytes/s of payload that a link carries.
[[nodiscard]] double PayloadRate(const Link& link, const RouterOptions& options);

// Renumbers arbitrary names of blocks, below `name_count`, as 0, 1, … in order of first appearance;
// `count`: how many there are.
[[nodiscard]] std::vector<std::uint32_t> Densely(const std::vector<std::uint32_t>& names,
                                                 std::size_t name_count, std::uint32_t& count);

}  // namespace trunkline
