#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/fold.h"
#include "engine/flow/problem.h"

namespace trunkline {

// One collective that one communicator runs by itself, as a problem of its own: the members are its
// ranks, in order, with one task each.
struct LoneCollective {
  FlowProblem problem;
  std::vector<std::uint32_t> pairs;  // by connection: its pair of the communicator's pattern
  Folding folding;                   // of that problem
};

// Whether folding the collective by itself could pay.
[[nodiscard]] bool IsWorthFolding(const Pattern& pattern, std::uint32_t collective);

// The collective as its members run it with nothing beside them, all from one instant on, folded;
// nothing where that makes it no smaller or could not pay. A run of many collectives may have
// little symmetry, one of them much: that of a ring goes where a tree among the same ranks leaves
// none. REQUIRES: the problem does not rotate; the communicator runs the collective.
[[nodiscard]] std::optional<LoneCollective> FoldAlone(const FlowProblem& problem,
                                                      std::uint32_t communicator,
                                                      std::uint32_t collective);

}  // namespace trunkline
