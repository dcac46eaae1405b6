#pragma once

#include <bit>
#include <cstdint>

namespace trunkline {

// How algorithms for powers of two serve any number of ranks: of the first 2 x excess ranks, each
// even one hands its data to the odd one after it, sits out, and gets the result in the end.
class RankFolding {
 public:
  explicit RankFolding(std::uint32_t ranks)
      : active_(std::bit_floor(ranks)), excess_(ranks - active_) {}

  // log2 of the number of active ranks.
  [[nodiscard]] std::uint32_t levels() const {
    return static_cast<std::uint32_t>(std::countr_zero(active_));
  }
  [[nodiscard]] std::uint32_t active() const { return active_; }
  [[nodiscard]] bool sits_out(std::uint32_t position) const {
    return position < 2 * excess_ && position % 2 == 0;
  }
  // Whether the rank before `position` hands its data to it.
  [[nodiscard]] bool takes_in(std::uint32_t position) const {
    return position < 2 * excess_ && position % 2 == 1;
  }
  // Number among the active ranks, and back.
  [[nodiscard]] std::uint32_t active_number(std::uint32_t position) const {
    return position < 2 * excess_ ? position / 2 : position - excess_;
  }
  [[nodiscard]] std::uint32_t position(std::uint32_t active_number) const {
    return active_number < excess_ ? 2 * active_number + 1 : active_number + excess_;
  }
  // The position of the active rank whose number differs in bit `level`.
  [[nodiscard]] std::uint32_t partner(std::uint32_t from, std::uint32_t level) const {
    return position(active_number(from) ^ (1U << level));
  }

 private:
  std::uint32_t active_;
  std::uint32_t excess_;
};

}  // namespace trunkline
