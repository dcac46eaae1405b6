#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/problem.h"

namespace trunkline {

// Which part of a problem is simulated, and what each part of it stands for.
struct Folding {
  std::vector<RankId> ranks;                           // simulated, in order
  std::vector<std::uint32_t> ranks_represented;        // by simulated rank
  std::vector<std::uint32_t> simulated_rank;           // by rank: index into `ranks`
  std::vector<std::uint32_t> connection_class;         // by connection of the problem
  std::vector<std::uint32_t> connections_represented;  // by class
  std::vector<std::uint32_t> resource_class;           // by resource of the problem
  // The classes: hops name resource classes, with the weights that all members put on one resource.
  std::vector<Connection> connections;
  std::vector<FlowHop> hops;
  std::vector<Rate> capacities;
  bool folded = false;
};

// Every rank by itself.
[[nodiscard]] Folding WithoutFolding(const FlowProblem& problem);

}  // namespace trunkline
