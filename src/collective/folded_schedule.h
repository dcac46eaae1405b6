#pragma once

#include <cstdint>
#include <utility>

#include "collective/program_schedule.h"
#include "collective/rank_folding.h"
#include "collective/ring_order.h"

namespace trunkline {

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
        order_(layout, layout.meshed ? spec.channels : 1),
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
  [[nodiscard]] const RankFolding& folding() const { return folding_; }
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
  RankFolding folding_;
  EvenCut pieces_;  // by channel
};

}  // namespace trunkline
