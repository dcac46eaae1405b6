#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace trunkline {

// Which packets beyond the next expected one have arrived, and which of them end a message.
class ReorderWindow {
 public:
  // Notes packet `psn` >= `expected`; false when it had arrived before.
  bool Insert(std::uint32_t expected, std::uint32_t psn, bool last) {
    const std::uint32_t ahead = psn - expected;
    if (ahead >= bits_.size()) Grow(expected, ahead);
    std::uint8_t& bit = bits_[psn & (bits_.size() - 1)];
    if (bit != 0) return false;
    bit = last ? 2 : 1;
    return true;
  }
  // Takes packet `expected` out if it has arrived: 0 it has not, 1 it has, 2 it ends a message.
  std::uint8_t TakeNext(std::uint32_t expected) {
    if (bits_.empty()) return 0;
    return std::exchange(bits_[expected & (bits_.size() - 1)], std::uint8_t{0});
  }

 private:
  void Grow(std::uint32_t expected, std::uint32_t ahead) {
    std::size_t size = bits_.empty() ? 64 : bits_.size();
    while (size <= ahead) size *= 2;
    std::vector<std::uint8_t> grown(size, 0);
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const auto psn = expected + static_cast<std::uint32_t>(i);
      grown[psn & (size - 1)] = bits_[psn & (bits_.size() - 1)];
    }
    bits_ = std::move(grown);
  }

  std::vector<std::uint8_t> bits_;  // by psn modulo a power of two
};

}  // namespace trunkline
