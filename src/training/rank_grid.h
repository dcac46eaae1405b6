#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "training/rank_order.h"
#include "trunkline/base/ids.h"
#include "trunkline/training/plan.h"

namespace trunkline {

// The communicators a rank belongs to.
//   kTensor     ranks that share a stage and a replica
//   kShard      data-parallel ranks over which states are sharded (all of dp unless HSDP)
//   kReplicate  ranks that hold the same shard (HSDP)
//   kEmbedding  first and last stage, which both hold a tied embedding
//   kWorld      every rank
enum class GroupRole : std::uint32_t { kTensor, kShard, kReplicate, kEmbedding, kWorld };
inline constexpr std::size_t kGroupRoleCount = 5;

enum class PeerRole : std::uint32_t { kNextStage, kPreviousStage };

// Ranks as points of a tp x dp x pp grid, numbered by the plan's order, and the groups along its
// axes. Everything is computed on demand.
class RankGrid {
 public:
  struct Place {
    std::uint32_t tensor = 0;
    std::uint32_t data = 0;
    std::uint32_t stage = 0;
  };

  // REQUIRES: a checked plan. `tied` says whether first and last stage share an embedding.
  RankGrid(const TrainingPlan& plan, bool tied);

  [[nodiscard]] std::uint32_t ranks() const { return tensor_ * data_ * stages_; }
  [[nodiscard]] std::uint32_t stages() const { return stages_; }
  [[nodiscard]] Place place(RankId rank) const;
  [[nodiscard]] std::uint32_t stage(RankId rank) const {
    return static_cast<std::uint32_t>(Index(rank)) / stride_[2] % stages_;
  }
  [[nodiscard]] RankId rank(const Place& place) const;

  // Of one name for grids with the same ranks in the same groups.
  [[nodiscard]] std::string name() const;

  // Members of a group of that role; 1: the role is not used.
  [[nodiscard]] std::uint32_t group_size(GroupRole role) const {
    return size_[static_cast<std::size_t>(role)];
  }

  // Communicators of all used roles, counted role after role.
  [[nodiscard]] std::uint32_t communicator_count() const;
  // REQUIRES: the role is used and has a group of `rank`.
  [[nodiscard]] CommunicatorId communicator(RankId rank, GroupRole role) const;
  [[nodiscard]] std::vector<RankId> members(CommunicatorId communicator) const;

  // The same tensor and data index on the neighbouring stage; the last stage's next is the first.
  [[nodiscard]] RankId peer(RankId rank, PeerRole role) const;

 private:
  // Member `index` of group `group` of a role.
  [[nodiscard]] Place Member(GroupRole role, std::uint32_t group, std::uint32_t index) const;

  std::uint32_t tensor_;
  std::uint32_t data_;
  std::uint32_t stages_;
  std::uint32_t shard_;                    // data-parallel ranks of one shard group
  std::array<std::uint32_t, 3> stride_{};  // of tensor, data, stage in the rank number
  std::array<std::uint32_t, kGroupRoleCount> size_{};
  std::array<std::uint32_t, kGroupRoleCount + 1> first_{};  // communicator ids of each role
};

}  // namespace trunkline
