#include "collective/cost_terms.h"
#include "collective/folded_schedule.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

// At step k, active rank v exchanges its whole sum with v xor 2^k. Sum k + 1 is made where the
// partner's sum k lands, so no sum is overwritten while it may still be travelling.
class RecursiveDoublingSchedule : public FoldedSchedule<RecursiveDoublingSchedule> {
 public:
  static constexpr std::uint64_t kOpsPerLevel = 3;

  RecursiveDoublingSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : FoldedSchedule("recursive_doubling", spec, layout) {}

  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override {
    return bytes() * folding().levels();
  }

  [[nodiscard]] BufferSpan TakenIn(std::uint32_t channel) const {
    return Piece(Buffer::kScratch, channel);
  }

  // { put, wait, reduce } for each level.
  [[nodiscard]] Op ExchangeOp(std::uint32_t position, std::uint32_t channel,
                              std::uint64_t index) const {
    const auto level = static_cast<std::uint32_t>(index / 3);
    const std::uint32_t other = folding().partner(position, level);
    switch (index % 3) {
      case 0:
        return Put(order().rank(other, channel), Sum(position, level, channel),
                   Sum(other, level + 1, channel));
      case 1:
        return Wait(order().rank(other, channel));
      default:
        return Reduce(Sum(position, level, channel), Sum(position, level + 1, channel));
    }
  }

 private:
  // The sum that the rank at `position` has after `level` exchanges.
  [[nodiscard]] BufferSpan Sum(std::uint32_t position, std::uint32_t level,
                               std::uint32_t channel) const {
    if (level == folding().levels()) {
      return Piece(Buffer::kOutput, channel);
    }
    if (level == 0 && !folding().takes_in(position)) {
      return Piece(Buffer::kInput, channel);
    }
    BufferSpan sum = Piece(Buffer::kScratch, channel);
    sum.offset += level * bytes();
    return sum;
  }
};

bool RecursiveDoublingSupports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> MakeRecursiveDoubling(const CollectiveSpec& spec,
                                                              const GroupLayout& layout) {
  return std::make_shared<RecursiveDoublingSchedule>(spec, layout);
}

std::vector<CostTerm> RecursiveDoublingTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const auto levels = DoublingLevels::Of(shape);
  const double bytes = BytesOf(spec);
  const double inside = levels.inside;
  const double outside = levels.outside;
  return {FoldTerm(shape, bytes),
          {.inside_steps = inside, .inside_bytes = inside * bytes},
          {.outside_steps = outside,
           .outside_bytes = outside * bytes,
           .node_bytes = outside * bytes * shape.per_node}};
}

}  // namespace

Algorithm RecursiveDoublingAlgorithm() {
  return {.name = "recursive_doubling",
          .summary = "whole buffers exchanged over doubling distances: fewest steps",
          .cost = "all_reduce: floor(log2 p) steps of n bytes; two more unless p is a power of two",
          .supports = RecursiveDoublingSupports,
          .make = MakeRecursiveDoubling,
          .cost_terms = RecursiveDoublingTerms,
          .channels_alike = [](bool meshed) { return !meshed; }};
}

}  // namespace trunkline
