#pragma once

#include <bit>
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
  // Takes out those of packet `expected` and the 63 after it before which none is missing: how
  // many, and how many of them end a message.
  struct Run {
    std::uint32_t packets = 0;
    std::uint32_t messages = 0;
  };
  Run TakeRun(std::uint32_t expected) {
    const auto packets =
        static_cast<std::uint32_t>(std::countr_one(arrived_.Word(expected, expected)));
    if (packets == 0) return {};
    arrived_.EraseRange(expected, expected + packets);
    return {packets, last_.EraseRange(expected, expected + packets)};
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
