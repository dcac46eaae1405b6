#pragma once

#include <memory>
#include <string_view>

#include "trace/goal_block.h"

namespace trunkline {

// Reads GOAL text: `num_ranks N`, then a block `rank R { … }` for each rank, a statement a line:
//
//   [LABEL:] send SIZEb to RANK [tag N] [cpu N] [nic N]
//   [LABEL:] recv SIZEb from RANK [tag N] [cpu N] [nic N]
//   [LABEL:] calc NANOSECONDS [cpu N]
//   LABEL requires LABEL        the first starts after the second has finished
//   LABEL irequires LABEL       the first starts after the second has started
//
// with // and /* */ comments. As LogGOPSim's txt2bin reads it, and labels may also be used before
// they are defined. Both arguments must outlive the reader.
[[nodiscard]] std::unique_ptr<GoalReader> MakeGoalTextReader(std::string_view text,
                                                             GoalProblems& problems);

}  // namespace trunkline
