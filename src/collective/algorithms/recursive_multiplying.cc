#include <cstddef>
#include <memory>
#include <string>

#include "collective/cost_terms.h"
#include "collective/program_schedule.h"
#include "collective/radix_steps.h"
#include "collective/registry.h"
#include "collective/ring_order.h"

namespace trunkline {
namespace {

// Recursive doubling for any number of ranks without any that sit out (Ruefenacht, Bull and Booth,
// Generalisation of recursive doubling for AllReduce, Parallel Computing 69, 2017): at each step a
// rank exchanges its whole sum with all that differ from it in one digit.
class RecursiveMultiplyingSchedule final : public ProgramSchedule<RecursiveMultiplyingSchedule> {
 public:
  RecursiveMultiplyingSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule("recursive_multiplying", spec, layout.size()),
        order_(layout, 1),
        steps_(layout),
        pieces_(spec.bytes.count(), spec.element_bytes, spec.channels) {
    for (const RadixSteps::Step& step : steps_.steps()) partners_ += step.radix - 1;
  }

  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override {
    return bytes() * static_cast<std::int64_t>(partners_);
  }
  [[nodiscard]] std::uint64_t op_count(Participant, std::uint32_t) const override {
    return ranks() == 1 ? 1 : kOpsPerPartner * partners_;
  }

  // Of each step: a put to every partner, then { wait, reduce } for each of them.
  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    if (ranks() == 1) {
      return Copy(Piece(Buffer::kInput, channel, 0), Piece(Buffer::kOutput, channel, 0));
    }
    std::size_t level = 0;
    std::uint64_t before = 0;  // partners of the steps before
    for (;; ++level) {
      const std::uint64_t ops = kOpsPerPartner * (steps_.steps()[level].radix - 1);
      if (index < ops) break;
      index -= ops;
      before += steps_.steps()[level].radix - 1;
    }
    const RadixSteps::Step& step = steps_.steps()[level];
    const std::uint32_t partners = step.radix - 1;
    const std::uint32_t position = order_.position(rank, 0);
    const auto partner = [&](std::uint32_t turn) {
      return order_.rank(RadixSteps::Partner(position, step, turn), 0);
    };
    if (index < partners) {
      const auto turn = static_cast<std::uint32_t>(index) + 1;
      // To the one that is `turn` further, this rank is radix - turn further.
      return Put(partner(turn), Sum(level, before, channel),
                 Taken(level, before, step.radix - turn, channel));
    }
    index -= partners;
    const auto turn = static_cast<std::uint32_t>(index / 2) + 1;
    if (index % 2 == 0) return Wait(partner(turn));
    const BufferSpan sum = Taken(level, before, 1, channel);
    return turn == 1 ? Reduce(Sum(level, before, channel), sum)
                     : Reduce(Taken(level, before, turn, channel), sum);
  }

  template <typename Visit>
  void ForEachDestination(Participant rank, std::uint32_t, Visit visit) const {
    const std::uint32_t position = order_.position(rank, 0);
    for (const RadixSteps::Step& step : steps_.steps()) {
      for (std::uint32_t turn = 1; turn < step.radix; ++turn) {
        visit(order_.rank(RadixSteps::Partner(position, step, turn), 0));
      }
    }
  }

 private:
  static constexpr std::uint64_t kOpsPerPartner = 3;

  // The channel's piece in the `copy`-th copy of the data in the buffer.
  [[nodiscard]] BufferSpan Piece(Buffer buffer, std::uint32_t channel, std::uint64_t copy) const {
    BufferSpan piece = Span(buffer, pieces_.range(channel));
    piece.offset += static_cast<std::int64_t>(copy) * bytes();
    return piece;
  }
  // Where the partner `turn` further puts its sum at a step. Sums are made where the first lands,
  // so none is overwritten while it may still be travelling; the last in the output.
  [[nodiscard]] BufferSpan Taken(std::size_t level, std::uint64_t before, std::uint32_t turn,
                                 std::uint32_t channel) const {
    if (turn == 1 && level + 1 == steps_.steps().size()) {
      return Piece(Buffer::kOutput, channel, 0);
    }
    return Piece(Buffer::kScratch, channel, before + turn - 1);
  }
  // What a rank has before a step.
  [[nodiscard]] BufferSpan Sum(std::size_t level, std::uint64_t before,
                               std::uint32_t channel) const {
    if (level == 0) return Piece(Buffer::kInput, channel, 0);
    return Taken(level - 1, before - (steps_.steps()[level - 1].radix - 1), 1, channel);
  }

  RingOrder order_;
  RadixSteps steps_;
  EvenCut pieces_;  // by channel
  std::uint64_t partners_ = 0;
};

bool RecursiveMultiplyingSupports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> MakeRecursiveMultiplying(const CollectiveSpec& spec,
                                                                 const GroupLayout& layout) {
  return std::make_shared<RecursiveMultiplyingSchedule>(spec, layout);
}

std::vector<CostTerm> RecursiveMultiplyingTerms(const CollectiveSpec& spec,
                                                const GroupShape& shape) {
  const RadixSteps steps(GroupLayout::Grid(shape.nodes, shape.per_node));
  CostTerm inside;
  CostTerm outside;
  for (std::size_t level = 0; level < steps.steps().size(); ++level) {
    const double bytes = BytesOf(spec) * (steps.steps()[level].radix - 1);
    if (level < steps.inside()) {
      inside.inside_steps += 1;
      inside.inside_bytes += bytes;
    } else {
      outside.outside_steps += 1;
      outside.outside_bytes += bytes;
      outside.node_bytes += bytes * shape.per_node;
    }
  }
  return {inside, outside};
}

}  // namespace

Algorithm RecursiveMultiplyingAlgorithm() {
  return {.name = "recursive_multiplying",
          .summary =
              "whole buffers exchanged with all that differ in one digit of a mixed radix: "
              "few steps, and all ranks alike, for any number of them",
          .cost = "all_reduce: a step for each prime factor f of G and N, f-1 puts of n bytes each",
          .supports = RecursiveMultiplyingSupports,
          .make = MakeRecursiveMultiplying,
          .cost_terms = RecursiveMultiplyingTerms,
          .channels_alike = [](bool) { return true; }};
}

}  // namespace trunkline
