#include "engine/flow/fold.h"

#include <numeric>

namespace trunkline {

Folding WithoutFolding(const FlowProblem& problem) {
  Folding folding;
  for (std::uint32_t i = 0; i < problem.ranks.size(); ++i) folding.ranks.push_back(RankId(i));
  folding.ranks_represented.assign(problem.ranks.size(), 1);
  folding.simulated_rank.resize(problem.ranks.size());
  std::iota(folding.simulated_rank.begin(), folding.simulated_rank.end(), 0U);
  folding.connection_class.resize(problem.connections.size());
  std::iota(folding.connection_class.begin(), folding.connection_class.end(), 0U);
  folding.connections_represented.assign(problem.connections.size(), 1);
  folding.resource_class.resize(problem.resources.size());
  std::iota(folding.resource_class.begin(), folding.resource_class.end(), 0U);
  folding.connections = problem.connections;
  folding.hops = problem.hops;
  folding.capacities = problem.capacities;
  return folding;
}

}  // namespace trunkline
