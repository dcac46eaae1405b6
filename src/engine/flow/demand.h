#pragma once

#include <span>
#include <vector>

#include "engine/flow/problem.h"
#include "trunkline/base/int128.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Fills in takes_turns of each shape.
void FindTurns(const TaskGraph& graph, std::vector<ProgramShape>& shapes);

// By resource: whether the sum over the ranks of what their slots ask for while they run, each in
// its most demanding use, and of those that take turns the most demanding one, is more than it has
// (`capacities`, in units of FlowNetwork::Units).
[[nodiscard]] std::vector<char> FindExceeded(const FlowProblem& problem,
                                             std::span<const Uint128> capacities);

}  // namespace trunkline
