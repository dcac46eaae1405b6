#include "training/rank_grid.h"

#include <fmt/format.h>

#include "trunkline/base/check.h"

namespace trunkline {

RankGrid::RankGrid(const TrainingPlan& plan, bool tied)
    : tensor_(static_cast<std::uint32_t>(plan.tp)),
      data_(static_cast<std::uint32_t>(plan.dp)),
      stages_(static_cast<std::uint32_t>(plan.pp)),
      shard_(plan.fsdp_shard_size > 0 ? static_cast<std::uint32_t>(plan.fsdp_shard_size) : data_) {
  const std::optional<RankOrder> order = ParseRankOrder(plan.order);
  TL_CHECK(order.has_value(), "unchecked rank order", plan.order);
  std::uint32_t stride = 1;
  for (const Dimension dimension : *order) {
    switch (dimension) {
      case Dimension::kTensor:
        stride_[0] = stride;
        stride *= tensor_;
        break;
      case Dimension::kData:
        stride_[1] = stride;
        stride *= data_;
        break;
      case Dimension::kPipeline:
        stride_[2] = stride;
        stride *= stages_;
        break;
      case Dimension::kContext:
        break;  // one rank
    }
  }
  size_ = {tensor_, shard_, data_ / shard_, tied && stages_ > 1 ? 2U : 1U, ranks()};
  const std::array<std::uint32_t, kGroupRoleCount> groups = {
      data_ * stages_, tensor_ * stages_ * (data_ / shard_), tensor_ * stages_ * shard_,
      tensor_ * data_, 1};
  for (std::size_t role = 0; role < kGroupRoleCount; ++role) {
    first_[role + 1] = first_[role] + (size_[role] > 1 ? groups[role] : 0);
  }
}

std::string RankGrid::name() const {
  return fmt::format("{}x{}x{} ranks, {} a shard, strides {}, groups of {}", tensor_, data_,
                     stages_, shard_, fmt::join(stride_, ","), fmt::join(size_, ","));
}

RankGrid::Place RankGrid::place(RankId rank) const {
  const auto number = static_cast<std::uint32_t>(Index(rank));
  return {number / stride_[0] % tensor_, number / stride_[1] % data_, stage(rank)};
}

RankId RankGrid::rank(const Place& place) const {
  return RankId{place.tensor * stride_[0] + place.data * stride_[1] + place.stage * stride_[2]};
}

std::uint32_t RankGrid::communicator_count() const { return first_.back(); }

CommunicatorId RankGrid::communicator(RankId rank, GroupRole role) const {
  const auto index = static_cast<std::size_t>(role);
  TL_CHECK(size_[index] > 1, "role without groups", index);
  const Place at = place(rank);
  std::uint32_t group = 0;
  switch (role) {
    case GroupRole::kTensor:
      group = at.stage * data_ + at.data;
      break;
    case GroupRole::kShard:
      group = (at.stage * (data_ / shard_) + at.data / shard_) * tensor_ + at.tensor;
      break;
    case GroupRole::kReplicate:
      group = (at.stage * shard_ + at.data % shard_) * tensor_ + at.tensor;
      break;
    case GroupRole::kEmbedding:
      TL_CHECK(at.stage == 0 || at.stage + 1 == stages_, "stage without an embedding", at.stage);
      group = at.data * tensor_ + at.tensor;
      break;
    case GroupRole::kWorld:
      break;
  }
  return CommunicatorId{first_[index] + group};
}

RankGrid::Place RankGrid::Member(GroupRole role, std::uint32_t group, std::uint32_t index) const {
  switch (role) {
    case GroupRole::kTensor:
      return {index, group % data_, group / data_};
    case GroupRole::kShard: {
      const std::uint32_t groups = data_ / shard_;
      const std::uint32_t outer = group / tensor_;
      return {group % tensor_, outer % groups * shard_ + index, outer / groups};
    }
    case GroupRole::kReplicate: {
      const std::uint32_t outer = group / tensor_;
      return {group % tensor_, index * shard_ + outer % shard_, outer / shard_};
    }
    case GroupRole::kEmbedding:
      return {group % tensor_, group / tensor_, index == 0 ? 0 : stages_ - 1};
    case GroupRole::kWorld:
      return place(RankId{index});
  }
  return {};
}

std::vector<RankId> RankGrid::members(CommunicatorId communicator) const {
  const auto id = static_cast<std::uint32_t>(Index(communicator));
  TL_CHECK(id < communicator_count(), "no such communicator", id);
  std::size_t role = 0;
  while (id >= first_[role + 1]) ++role;
  std::vector<RankId> result(size_[role]);
  if (static_cast<GroupRole>(role) == GroupRole::kWorld) {
    for (std::uint32_t i = 0; i < size_[role]; ++i) result[i] = RankId{i};
    return result;
  }
  for (std::uint32_t i = 0; i < size_[role]; ++i) {
    result[i] = rank(Member(static_cast<GroupRole>(role), id - first_[role], i));
  }
  return result;
}

RankId RankGrid::peer(RankId from, PeerRole role) const {
  Place at = place(from);
  at.stage = (at.stage + (role == PeerRole::kNextStage ? 1 : stages_ - 1)) % stages_;
  return rank(at);
}

}  // namespace trunkline
