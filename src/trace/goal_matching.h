#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/goal_block.h"
#include "trace/goal_graph.h"

namespace trunkline {

struct GoalParts {
  std::span<const Program> programs;
  std::span<const std::uint32_t> program_of;     // by rank
  std::span<const std::vector<GoalPeer>> peers;  // by rank, then role
  std::span<const std::size_t> place_of;         // by rank: its block
};

// For every role of every rank the role by which its peer exchanges the same messages. Notes
// messages that are sent and not received, received and not sent, or of two sizes: the k-th send of
// a rank to another with one tag belongs to the k-th receive.
[[nodiscard]] std::vector<std::vector<GoalGraph::Role>> MatchGoalMessages(const GoalParts& parts,
                                                                          GoalReader& reader,
                                                                          GoalProblems& problems);

}  // namespace trunkline
