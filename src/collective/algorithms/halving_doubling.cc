#include <cmath>
#include <vector>

#include "collective/cost_terms.h"
#include "collective/folded_schedule.h"
#include "collective/registry.h"

namespace trunkline {
namespace {

// Rabenseifner's AllReduce (ICCS 2004): a reduce-scatter in which active rank v exchanges halves of
// its window with v xor 1, v xor 2, v xor 4, …, the nearest partner getting the largest half, and
// an all-gather that retraces those steps. The data is cut into one block an active rank; after
// step k a window holds blocks [first, first + active / 2^k).
//
// The halved window of each level has a scratch region of its own, about n in all, so no window is
// overwritten while it may still be travelling. The last one, of one block, is in the output.
class HalvingDoublingSchedule : public FoldedSchedule<HalvingDoublingSchedule> {
 public:
  static constexpr std::uint64_t kOpsPerLevel = 5;

  HalvingDoublingSchedule(const CollectiveSpec& spec, const GroupLayout& layout)
      : FoldedSchedule("halving_doubling", spec, layout),
        blocks_(spec.bytes.count(), spec.element_bytes, spec.channels, folding().active()) {
    // Region 0 takes in the data of a rank that sits out. The first window of the first channel is
    // the longest.
    for (std::uint32_t level = 0; level < folding().levels(); ++level) {
      region_.push_back(scratch_per_channel_);
      scratch_per_channel_ += blocks_.piece(0, folding().active() >> level).offset;
    }
  }

  [[nodiscard]] std::int64_t scratch_bytes(Participant) const override {
    return scratch_per_channel_ * channels();
  }

  [[nodiscard]] BufferSpan TakenIn(std::uint32_t channel) const {
    return {Buffer::kScratch, scratch_per_channel_ * channel, blocks_.outer().size(channel)};
  }

  // { put, wait, reduce } down the levels, { put, wait } up again.
  [[nodiscard]] Op ExchangeOp(std::uint32_t position, std::uint32_t channel,
                              std::uint64_t index) const {
    const std::uint64_t halving_ops = std::uint64_t{3} * folding().levels();
    return index < halving_ops ? HalvingOp(position, channel, index)
                               : DoublingOp(position, channel, index - halving_ops);
  }

 private:
  [[nodiscard]] Op HalvingOp(std::uint32_t position, std::uint32_t channel,
                             std::uint64_t index) const {
    const auto level = static_cast<std::uint32_t>(index / 3);
    const std::uint32_t other = folding().partner(position, level);
    const ByteRange kept = Window(position, level + 1, channel);
    const ByteRange given = Window(other, level + 1, channel);
    switch (index % 3) {
      case 0:
        return Put(order().rank(other, channel), Held(position, level, given, channel),
                   Held(other, level + 1, given, channel));
      case 1:
        return Wait(order().rank(other, channel));
      default:
        return Reduce(Held(position, level, kept, channel),
                      Held(position, level + 1, kept, channel));
    }
  }

  [[nodiscard]] Op DoublingOp(std::uint32_t position, std::uint32_t channel,
                              std::uint64_t index) const {
    const std::uint32_t level = folding().levels() - 1 - static_cast<std::uint32_t>(index / 2);
    const Participant other = order().rank(folding().partner(position, level), channel);
    if (index % 2 == 1) {
      return Wait(other);
    }
    ByteRange window = Window(position, level + 1, channel);
    window.offset += blocks_.outer().offset(channel);
    return Put(other, Span(Buffer::kOutput, window), Span(Buffer::kOutput, window));
  }

  // The bytes, from the beginning of the channel's piece, of the window that the rank at `position`
  // is left with at `level`. Step k halves by bit k, so the first block is v with its bits
  // reversed.
  [[nodiscard]] ByteRange Window(std::uint32_t position, std::uint32_t level,
                                 std::uint32_t channel) const {
    const std::uint32_t v = folding().active_number(position);
    std::uint32_t first = 0;
    for (std::uint32_t k = 0; k < level; ++k) {
      first |= (v >> k & 1) << (folding().levels() - 1 - k);
    }
    const std::uint32_t last = first + (folding().active() >> level) - 1;
    const std::int64_t begin = blocks_.piece(channel, first).offset;
    const ByteRange end = blocks_.piece(channel, last);
    return {begin, end.offset + end.size - begin};
  }

  // Where the rank at `position` holds `range`, a part of its window of `level`.
  [[nodiscard]] BufferSpan Held(std::uint32_t position, std::uint32_t level, ByteRange range,
                                std::uint32_t channel) const {
    if (level == 0 && !folding().takes_in(position)) {
      return {Buffer::kInput, blocks_.outer().offset(channel) + range.offset, range.size};
    }
    if (level == folding().levels()) {
      return {Buffer::kOutput, blocks_.outer().offset(channel) + range.offset, range.size};
    }
    const std::int64_t in_window = range.offset - Window(position, level, channel).offset;
    return {Buffer::kScratch, scratch_per_channel_ * channel + region_[level] + in_window,
            range.size};
  }

  NestedCut blocks_;                  // by channel, then by active rank
  std::vector<std::int64_t> region_;  // by level: where it begins in a channel's scratch
  std::int64_t scratch_per_channel_ = 0;
};

bool HalvingDoublingSupports(Primitive primitive) { return primitive == Primitive::kAllReduce; }

Result<std::shared_ptr<const Schedule>> MakeHalvingDoubling(const CollectiveSpec& spec,
                                                            const GroupLayout& layout) {
  return std::make_shared<HalvingDoublingSchedule>(spec, layout);
}

std::vector<CostTerm> HalvingDoublingTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const auto levels = DoublingLevels::Of(shape);
  const double bytes = 2 * BytesOf(spec);
  const double left = std::exp2(-levels.inside);  // of the buffer, in the window of a rank
  const double share = bytes * (left - std::exp2(-levels.inside - levels.outside));
  return {FoldTerm(shape, BytesOf(spec)),
          {.inside_steps = 2.0 * levels.inside, .inside_bytes = bytes * (1 - left)},
          {.outside_steps = 2.0 * levels.outside,
           .outside_bytes = share,
           .node_bytes = share * shape.per_node}};
}

}  // namespace

Algorithm HalvingDoublingAlgorithm() {
  return {
      .name = "halving_doubling",
      .summary = "Rabenseifner: halves exchanged over doubling distances and back",
      .cost =
          "all_reduce: 2 floor(log2 p) steps, 2(p-1)/p n bytes sent by each rank; two steps and n "
          "bytes more for some ranks unless p is a power of two",
      .supports = HalvingDoublingSupports,
      .make = MakeHalvingDoubling,
      .cost_terms = HalvingDoublingTerms,
      .channels_alike = [](bool meshed) { return !meshed; }};
}

}  // namespace trunkline
