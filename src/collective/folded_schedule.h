#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "collective/program_schedule.h"
#include "collective/ring_order.h"

namespace trunkline {

// How algorithms for powers of two serve any number of ranks: of the first 2 x excess ranks, each
// even one hands its data to the odd one after it, sits out, and gets the result in the end.
class Folding {
 public:
  explicit Folding(std::uint32_t ranks)
      : active_(std::bit_floor(ranks)), excess_(ranks - active_) {}

  // log2 of the number of active ranks.
  [[nodiscard]] std::uint32_t levels() const {
    return static_cast<std::uint32_t>(std::countr_zero(active_));
  }
  [[nodiscard]] std::uint32_t active() const { return active_; }
  [[nodiscard]] bool sits_out(std::uint32_t seat) const {
    return seat < 2 * excess_ && seat % 2 == 0;
  }
  // Whether the rank before `seat` hands its data to it.
  [[nodiscard]] bool takes_in(std::uint32_t seat) const {
    return seat < 2 * excess_ && seat % 2 == 1;
  }
  // Number among the active ranks.
  [[nodiscard]] std::uint32_t active_number(std::uint32_t seat) const {
    return seat < 2 * excess_ ? seat / 2 : seat - excess_;
  }
  // The position of an active rank, by its number.
  [[nodiscard]] std::uint32_t position(std::uint32_t number) const {
    return number < excess_ ? 2 * number + 1 : number + excess_;
  }
  // The position of the active rank whose number differs in bit `level`.
  [[nodiscard]] std::uint32_t partner(std::uint32_t seat, std::uint32_t level) const {
    return position(active_number(seat) ^ (1U << level));
  }

 private:
  std::uint32_t active_;
  std::uint32_t excess_;
};

// An AllReduce among active ranks with what folding puts around it. `Derived` has
//   static constexpr std::uint64_t kOpsPerLevel
//   Op ExchangeOp(std::uint32_t position, std::uint32_t channel, std::uint64_t index) const
//     the ops of an active rank, kOpsPerLevel x levels of them, that leave the result in the output
//   BufferSpan TakenIn(std::uint32_t channel) const
//     the scratch where a rank that takes in another finds the sum of both
template <typename Derived>
class FoldedSchedule : public ProgramSchedule<FoldedSchedule<Derived>> {
 public:
  FoldedSchedule(std::string algorithm, const CollectiveSpec& spec, const GroupLayout& layout)
      : ProgramSchedule<FoldedSchedule>(std::move(algorithm), spec, layout.size()),
        order_(layout, spec.channels),
        folding_(layout.size()),
        pieces_(spec.bytes.count(), spec.element_bytes, spec.channels) {}

  // { copy } alone; { put, wait } for a rank that sits out; else [wait, reduce], exchange, [put].
  [[nodiscard]] std::uint64_t op_count(Participant rank, std::uint32_t channel) const final {
    const std::uint32_t position = order_.position(rank, channel);
    if (this->ranks() == 1) {
      return 1;
    }
    if (folding_.sits_out(position)) {
      return 2;
    }
    return exchange_ops() + (folding_.takes_in(position) ? 3 : 0);
  }

  [[nodiscard]] Op OpAt(Participant rank, std::uint32_t channel, std::uint64_t index) const {
    const std::uint32_t position = order_.position(rank, channel);
    const BufferSpan input = Piece(Buffer::kInput, channel);
    const BufferSpan output = Piece(Buffer::kOutput, channel);
    if (this->ranks() == 1) {
      return Copy(input, output);
    }
    if (folding_.sits_out(position)) {
      const Participant partner = order_.rank(position + 1, channel);
      return index == 0 ? Put(partner, input, derived().TakenIn(channel)) : Wait(partner);
    }
    if (folding_.takes_in(position)) {
      const Participant partner = order_.rank(position - 1, channel);
      if (index < 2) {
        return index == 0 ? Wait(partner) : Reduce(input, derived().TakenIn(channel));
      }
      index -= 2;
      if (index == exchange_ops()) {
        return Put(partner, output, output);
      }
    }
    return derived().ExchangeOp(position, channel, index);
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
      visit(order_.rank(folding_.partner(position, level), channel));
    }
  }

 protected:
  [[nodiscard]] const RingOrder& order() const { return order_; }
  [[nodiscard]] const Folding& folding() const { return folding_; }
  // The channel's piece of the data.
  [[nodiscard]] BufferSpan Piece(Buffer buffer, std::uint32_t channel) const {
    return Span(buffer, pieces_.range(channel));
  }

 private:
  [[nodiscard]] const Derived& derived() const { return static_cast<const Derived&>(*this); }
  [[nodiscard]] std::uint64_t exchange_ops() const {
    return Derived::kOpsPerLevel * folding_.levels();
  }

  RingOrder order_;
  Folding folding_;
  Cut pieces_;  // by channel
};

}  // namespace trunkline
