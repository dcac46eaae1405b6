#pragma once

#include <cstdint>

#include "engine/packet/psn_set.h"

namespace trunkline {

// Which packets beyond the next expected one have arrived, and which of them end a message.
class ReorderWindow {
 public:
  // Notes packet `psn` >= `expected`; false when it had arrived before.
  bool Insert(std::uint32_t expected, std::uint32_t psn, bool last) {
    if (!arrived_.Insert(expected, psn)) return false;
    if (last) last_.Insert(expected, psn);
    return true;
  }
  // Takes packet `expected` out if it has arrived: 0 it has not, 1 it has, 2 it ends a message.
  std::uint8_t TakeNext(std::uint32_t expected) {
    if (!arrived_.Erase(expected)) return 0;
    return last_.Erase(expected) ? 2 : 1;
  }
  // Bit i: packet psn + i has arrived.
  [[nodiscard]] std::uint64_t Arrived(std::uint32_t expected, std::uint32_t psn) const {
    return arrived_.Word(expected, psn);
  }

 private:
  PsnSet arrived_;
  PsnSet last_;
};

}  // namespace trunkline
