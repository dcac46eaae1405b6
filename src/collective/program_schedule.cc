#include "collective/program_schedule.h"

#include "trunkline/base/check.h"

namespace trunkline {

SpecSchedule::SpecSchedule(std::string algorithm, CollectiveSpec spec, std::uint32_t ranks)
    : algorithm_(std::move(algorithm)),
      spec_(std::move(spec)),
      ranks_(ranks),
      chunks_(spec_.bytes.count(), spec_.element_bytes, ranks) {}

std::int64_t SpecSchedule::MatrixSum(std::size_t first, std::size_t stride) const {
  std::int64_t sum = 0;
  for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
    sum += spec_.matrix[first + peer * stride];
  }
  return sum;
}

std::int64_t SpecSchedule::input_bytes(std::uint32_t rank) const {
  switch (spec_.primitive) {
    case Primitive::kAllReduce:
    case Primitive::kReduceScatter:
    case Primitive::kReduce:
    case Primitive::kAllToAll:
    case Primitive::kSendRecv:
    case Primitive::kBarrier:
      return bytes();
    case Primitive::kAllGather:
    case Primitive::kGather:
      return chunks_.size(rank);
    case Primitive::kBroadcast:
    case Primitive::kScatter:
      return rank == spec_.root ? bytes() : 0;
    case Primitive::kAllToAllV:
      return MatrixSum(std::size_t{rank} * ranks_, 1);
  }
  TL_CHECK(false, "unknown primitive");
  return 0;
}

std::int64_t SpecSchedule::output_bytes(std::uint32_t rank) const {
  switch (spec_.primitive) {
    case Primitive::kAllReduce:
    case Primitive::kAllGather:
    case Primitive::kBroadcast:
    case Primitive::kSendRecv:
    case Primitive::kBarrier:
      return bytes();
    case Primitive::kReduceScatter:
    case Primitive::kScatter:
      return chunks_.size(rank);
    case Primitive::kReduce:
    case Primitive::kGather:
      return rank == spec_.root ? bytes() : 0;
    case Primitive::kAllToAll:
      return chunks_.size(rank) * ranks_;
    case Primitive::kAllToAllV:
      return MatrixSum(rank, ranks_);
  }
  TL_CHECK(false, "unknown primitive");
  return 0;
}

}  // namespace trunkline
