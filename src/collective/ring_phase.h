#pragma once

#include <cstdint>

#include "collective/program_schedule.h"

namespace trunkline {

// One member's part of a pass around a ring of `members`, each owning one chunk, numbered by
// position. A chunk may be several spans (`width`), which travel one behind the other.
//
// Reduce-scatter: chunk c starts at position c + 1 and gathers contributions until its owner, c,
// has the sum. All-gather: chunk c starts at its owner and is passed on until it has reached c - 1.
struct RingPhase {
  std::uint32_t members = 1;
  std::uint32_t position = 0;
  Participant next = 0;
  Participant previous = 0;
  std::uint32_t width = 1;

  [[nodiscard]] std::uint64_t reduce_scatter_ops() const {
    return std::uint64_t{3} * (members - 1) * width;
  }
  [[nodiscard]] std::uint64_t all_gather_ops() const {
    return std::uint64_t{2} * (members - 1) * width;
  }

  // The chunk that is `steps` places behind this member. REQUIRES: steps <= members.
  [[nodiscard]] std::uint32_t behind(std::uint64_t steps) const {
    const auto back = static_cast<std::uint32_t>(steps);
    return position >= back ? position - back : position + members - back;
  }

  // Op `index` of a reduce-scatter. spans.own(chunk, j) is what this member contributes;
  // spans.sum(chunk, j, owner) is where the running sum lands, `owner` telling whether it lands at
  // the chunk's owner. A sum in transit lands at the same offset at every member.
  //
  //   put;  { wait, reduce, put } for each middle step;  wait, reduce
  template <typename Spans>
  [[nodiscard]] Op ReduceScatterOp(std::uint64_t index, const Spans& spans) const {
    if (index < width) {
      const std::uint32_t chunk = behind(1);
      return Put(next, spans.own(chunk, index), spans.sum(chunk, index, members == 2));
    }
    index -= width;
    const std::uint64_t step = index / (3 * std::uint64_t{width}) + 1;
    index %= 3 * std::uint64_t{width};
    const bool last = step + 1 == members;
    const std::uint64_t ops = last ? 2 : 3;
    const std::uint64_t j = index / ops;
    const std::uint32_t chunk = behind(step + 1);
    const BufferSpan sum = spans.sum(chunk, j, last);
    switch (index % ops) {
      case 0:
        return Wait(previous);
      case 1:
        return Reduce(spans.own(chunk, j), sum);
      default:
        return Put(next, sum, spans.sum(chunk, j, step + 2 == members));
    }
  }

  // Op `index` of an all-gather. spans.own(chunk, j) is where this member's own chunk is read;
  // spans.gathered(chunk, j) is where chunks land, at the same offset at every member.
  //
  //   put;  { wait, put } for each middle step;  wait
  template <typename Spans>
  [[nodiscard]] Op AllGatherOp(std::uint64_t index, const Spans& spans) const {
    if (index < width) {
      return Put(next, spans.own(position, index), spans.gathered(position, index));
    }
    index -= width;
    const std::uint64_t step = index / (2 * std::uint64_t{width}) + 1;
    index %= 2 * std::uint64_t{width};
    const std::uint64_t ops = step + 1 == members ? 1 : 2;
    if (index % ops == 0) {
      return Wait(previous);
    }
    const BufferSpan span = spans.gathered(behind(step), index / ops);
    return Put(next, span, span);
  }
};

}  // namespace trunkline
