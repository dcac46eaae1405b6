#pragma once

#include <span>
#include <vector>

#include "engine/flow/problem.h"
#include "trunkline/base/int128.h"

namespace trunkline {

// A connection's gate is the resource that holds it when it is alone, the first of them or the
// last: a rank's cable, say, before the trunk that it shares.
struct Gates {
  explicit Gates(std::size_t resources) : is_gate(resources, 0) {}

  std::vector<std::uint32_t> of;  // by connection; ProgramShape::kNoSlot: it has no hops
  std::vector<char> is_gate;      // by resource
};

// REQUIRES: both are new.
void FindGates(const FlowProblem& problem, Gates& firsts, Gates& lasts);

// Of the resources that are `open`: those that cannot be filled by what comes through the gates of
// the connections that cross them. `capacities` are in units of FlowNetwork::Units.
[[nodiscard]] std::vector<char> UnfilledBehind(const Gates& gates, const FlowProblem& problem,
                                               std::span<const Uint128> capacities,
                                               std::vector<char> open);

}  // namespace trunkline
