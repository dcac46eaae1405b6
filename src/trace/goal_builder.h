#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "trace/goal_block.h"
#include "trace/goal_graph.h"

namespace trunkline {

// The operations of a block in an order in which each comes after what it needs: the file's where
// that does, else the nearest. Fewer than there are when some wait for each other for ever.
[[nodiscard]] std::vector<std::uint32_t> GoalOrder(const GoalBlock& block);

// Builds the task graph from blocks.
//
// A message's peer role is its (peer, tag), numbered by first use in its rank, so that ranks which
// do the same with other peers share one program: a file of 2 million messages of a ring becomes
// one program.
class GoalBuilder {
 public:
  GoalBuilder(GoalReader& reader, GoalProblems& problems) : reader_(reader), problems_(problems) {}

  void Add(const GoalBlock& block);
  // Checks that every message is sent and received. Returns nothing when the file has problems.
  std::unique_ptr<TaskGraph> Finish();
  [[nodiscard]] std::uint64_t operations() const { return operations_; }

 private:
  static constexpr std::size_t kNoPlace = SIZE_MAX;

  bool CheckPlace(const GoalBlock& block);
  bool CheckOperations(const GoalBlock& block);
  void ReportCycle(const GoalBlock& block, const std::vector<std::uint32_t>& order);
  Program ProgramOf(const GoalBlock& block, const std::vector<std::uint32_t>& order);
  std::uint32_t RoleOf(const GoalOperation& operation);
  std::uint32_t ShareProgram(Program program);

  GoalReader& reader_;
  GoalProblems& problems_;
  std::uint64_t operations_ = 0;
  std::int64_t total_bytes_ = 0;
  bool warned_of_nics_ = false;
  std::uint8_t highest_cpu_ = 0;
  std::vector<std::size_t> place_of_;         // by rank: its block
  std::vector<std::uint32_t> program_of_;     // by rank
  std::vector<std::vector<GoalPeer>> peers_;  // by rank, then role
  std::vector<Program> programs_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> program_by_hash_;
  std::unordered_map<std::uint64_t, std::uint32_t> role_by_peer_;  // of the rank being added
  std::vector<GoalPeer> roles_;                                    // likewise
};

}  // namespace trunkline
