#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace trunkline {

// The operation that each label of a block names. Emptying it for the next block costs nothing.
class LabelTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void Clear() {
    ++block_;
    size_ = 0;
  }

  // The operation that `label` names already; kNone: it names `operation` from now on.
  std::uint32_t Insert(std::string_view label, std::uint32_t operation) {
    if (2 * (size_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[Find(label)];
    if (slot.block == block_) return slot.operation;
    slot = {label, block_, operation};
    ++size_;
    return kNone;
  }

  [[nodiscard]] std::uint32_t operation(std::string_view label) const {
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[Find(label)];
    return slot.block == block_ ? slot.operation : kNone;
  }

 private:
  struct Slot {
    std::string_view label;
    std::uint32_t block = 0;  // in which it was filled
    std::uint32_t operation = 0;
  };

  // Where `label` is, or would be. REQUIRES: a slot is free.
  [[nodiscard]] std::size_t Find(std::string_view label) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::hash<std::string_view>{}(label)&mask;
    while (slots_[at].block == block_ && slots_[at].label != label) at = (at + 1) & mask;
    return at;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.block == block_) slots_[Find(slot.label)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t size_ = 0;
  std::uint32_t block_ = 1;
};

}  // namespace trunkline
