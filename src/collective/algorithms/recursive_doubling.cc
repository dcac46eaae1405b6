#include "collective/cost_terms.h"
#include "collective/folding.h"
#include "collective/program_schedule.h"
#include "collective/registry.h"
#include "collective/ring_order.h"

namespace trunkline {
namespace {

// At step k, active rank v exchanges its whole sum with v xor 2^k. Sum k + 1 is made where the
// partner's sum k lands, so no sum is overwritten while it may still be travelling.
class RecursiveDoublingSchedule : public ProgramSchedule<RecursiveDoublingSchedule> {
 public:
  RecursiveDoublingSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule("recursive_doubling", spec, layout.size()),
        order_(layout, spec.channels),
        folding_(layout.size()),
        pieces_(spec.bytes.count(), spec.element_bytes, spec.channels) {}

  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override {
    return bytes() * folding_.levels();
  }

  // { copy } alone; { put, wait } for a rank that sits out; else
  // [wait, reduce], { put, wait, reduce } for each level, [put].
  [[nodiscard]] std::uint64_t op_count(Participant rank, std::uint32_t channel) const override {
    const std::uint32_t position = order_.position(rank, channel);
    if (ranks() == 1) {
      return 1;
    }
    if (folding_.sits_out(position)) {
      return 2;
    }
    return std::uint64_t{3} * folding_.levels() + (folding_.takes_in(position) ? 3 : 0);
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    const std::uint32_t position = order_.position(rank, channel);
    const ByteRange piece = pieces_.range(channel);
    const BufferSpan input = Span(Buffer::kInput, piece);
    const BufferSpan output = Span(Buffer::kOutput, piece);
    if (ranks() == 1) {
      return Copy(input, output);
    }
    if (folding_.sits_out(position)) {
      const Participant partner = order_.rank(position + 1, channel);
      return index == 0 ? Put(partner, input, Sum(position + 1, 0, piece)) : Wait(partner);
    }
    if (folding_.takes_in(position)) {
      const Participant partner = order_.rank(position - 1, channel);
      if (index < 2) {
        return index == 0 ? Wait(partner) : Reduce(input, Sum(position, 0, piece));
      }
      index -= 2;
      if (index == std::uint64_t{3} * folding_.levels()) {
        return Put(partner, output, output);
      }
    }
    const auto level = static_cast<std::uint32_t>(index / 3);
    const std::uint32_t other = folding_.position(folding_.active_number(position) ^ (1U << level));
    switch (index % 3) {
      case 0:
        return Put(order_.rank(other, channel), Sum(position, level, piece),
                   Sum(other, level + 1, piece));
      case 1:
        return Wait(order_.rank(other, channel));
      default:
        return Reduce(Sum(position, level, piece), Sum(position, level + 1, piece));
    }
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t channel, Visit visit) const {
    const std::uint32_t position = order_.position(rank, channel);
    if (folding_.sits_out(position)) {
      visit(order_.rank(position + 1, channel));
      return;
    }
    if (folding_.takes_in(position)) {
      visit(order_.rank(position - 1, channel));
    }
    for (std::uint32_t level = 0; level < folding_.levels(); ++level) {
      visit(order_.rank(folding_.position(folding_.active_number(position) ^ (1U << level)),
                        channel));
    }
  }

 private:
  // The sum that the rank at `position` has after `level` exchanges.
  [[nodiscard]] BufferSpan Sum(std::uint32_t position, std::uint32_t level, ByteRange piece) const {
    if (level == folding_.levels()) {
      return Span(Buffer::kOutput, piece);
    }
    if (level == 0 && !folding_.takes_in(position)) {
      return Span(Buffer::kInput, piece);
    }
    piece.offset += level * bytes();
    return Span(Buffer::kScratch, piece);
  }

  RingOrder order_;
  Folding folding_;
  Cut pieces_;  // by channel
};

bool Supports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> Make(const CollectiveSpec& spec,
                                             const GroupLayout& layout) {
  return std::make_shared<RecursiveDoublingSchedule>(spec, layout);
}

std::vector<CostTerm> Terms(const CollectiveSpec& spec, const GroupShape& shape) {
  const double inside = CeilLog2(shape.per_node);
  const double outside = CeilLog2(shape.nodes);
  const double bytes = BytesOf(spec);
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
          .cost = "all_reduce: ceil(log2 p) steps of n bytes; two more unless p is a power of two",
          .supports = Supports,
          .make = Make,
          .cost_terms = Terms};
}

}  // namespace trunkline
