#pragma once

#include <memory>
#include <string_view>

#include "trace/goal_block.h"

namespace trunkline {

// Whether bytes begin as a GOAL binary does.
[[nodiscard]] bool LooksLikeGoalBinary(std::string_view bytes);

// Reads GOAL as LogGOPSim's txt2bin writes it, little endian and packed. Both arguments must
// outlive the reader.
//
//   u64 4223; offsets count from here:
//   u32 ranks, u8 highest cpu, u8 highest nic, for each rank u64 begin and u64 end of its block
//   block: u32 nodes, u32 roots, u32 roots[], nodes, u32 successors[]
//   node:  u32 needs, u8 kind (1 send, 2 receive, 3 compute), u32 peer, u64 bytes or ns, u32 tag,
//          u8 cpu, u8 nic, then for `requires` and `irequires` each u32 count and u32 first of the
//          successors, the nodes that need this one
[[nodiscard]] std::unique_ptr<GoalReader> MakeGoalBinaryReader(std::string_view bytes,
                                                               GoalProblems& problems);

}  // namespace trunkline
