#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "trunkline/fabric/switch_model.h"

namespace trunkline {

// Which virtual lane of a port goes next (InfiniBand Architecture Specification 1.3, volume 1,
// section 7.6.9): two tables of lanes with weights, each gone through in turns, of which the
// high-priority one goes first until it has sent `high_limit` while low priority waits.
class VlArbiter {
 public:
  // The lane that goes next of those that may send, a bit each; none when no table has any of them.
  [[nodiscard]] std::optional<std::uint8_t> Pick(const VlArbitration& tables,
                                                 std::uint8_t ready) const {
    const auto next = Choose(tables, ready);
    if (!next) return std::nullopt;
    return (next->high ? tables.high : tables.low)[next->entry].lane;
  }

  // The lane picked of those that may send sends a packet of so many bytes.
  void Sent(const VlArbitration& tables, std::uint8_t ready, std::uint32_t bytes) {
    const auto next = Choose(tables, ready);
    if (!next) return;
    const std::span<const VlWeight> table = next->high ? tables.high : tables.low;
    Turn& turn = next->high ? high_ : low_;
    if (next->entry != turn.entry || turn.left <= 0) {
      turn = {next->entry, table[next->entry].weight};
    }
    turn.left -= static_cast<std::int32_t>((bytes + 63) / 64);
    high_sent_ = next->high ? high_sent_ + bytes : 0;
  }

 private:
  struct Turn {
    std::size_t entry = SIZE_MAX;  // the one before the first
    std::int32_t left = 0;         // of its weight, in units of 64 bytes
  };
  struct Next {
    bool high = false;
    std::size_t entry = 0;
  };

  // The entry whose turn it is: the last one's, while anything is left of its weight.
  static std::optional<std::size_t> Find(std::span<const VlWeight> table, const Turn& turn,
                                         std::uint8_t ready) {
    for (std::size_t i = turn.left > 0 ? 0 : 1; i <= table.size(); ++i) {
      const std::size_t entry = (turn.entry + i) % table.size();
      if (table[entry].weight > 0 && (ready >> table[entry].lane & 1) != 0) return entry;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Next> Choose(const VlArbitration& tables, std::uint8_t ready) const {
    constexpr std::int64_t kLimitUnit = 4096;
    const auto high = Find(tables.high, high_, ready);
    const auto low = Find(tables.low, low_, ready);
    const bool may_go_on = tables.high_limit == VlArbitration::kNoLimit || high_sent_ == 0 ||
                           high_sent_ < tables.high_limit * kLimitUnit;
    if (high && (may_go_on || !low)) return Next{true, *high};
    if (low) return Next{false, *low};
    return std::nullopt;
  }

  Turn high_;
  Turn low_;
  std::int64_t high_sent_ = 0;  // bytes since the last packet of low priority
};

}  // namespace trunkline
