#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/cuts.h"
#include "trunkline/base/units.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// What the closed form of a collective among so many ranks on so many nodes misses, for a warning;
// null: nothing that matters. `cuts`: of the fabric. docs/engines.md has how far off it is.
[[nodiscard]] const char* MissedByClosedForm(const CollectiveChoice& choice, std::uint32_t ranks,
                                             std::size_t nodes, bool packed,
                                             const FabricCuts& cuts);

// The same of groups of two kinds that cross the NICs of a rank at once in a step of that time, of
// which each is taken alone. Empty: nothing that matters.
[[nodiscard]] std::string MissedByGroupsTogether(const GroupsTogether& together, Time step);

}  // namespace trunkline
