#pragma once

#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Ranks whose programs tell the whole step, sorted: the first rank of each program; for every rank
// among them also the ranks that it sends to or receives from, and, in each of its communicators,
// one rank of every program present. All other ranks are taken to be congruent to one of these.
[[nodiscard]] std::vector<RankId> Representatives(const TaskGraph& graph);

}  // namespace trunkline
