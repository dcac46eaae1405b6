#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

// The messages of what a run waits for, and the chain of them that led to its end.
class MessageLog {
 public:
  struct Entry {
    RankId source{};
    RankId destination{};
    std::uint32_t line = 0;  // of the carrier
    std::int64_t bytes = 0;  // on the wire, headers aside
    Time begin;
    Time delivered;
  };

  explicit MessageLog(std::uint32_t ranks) : arrived_(ranks) {}

  // In order of delivery.
  void Add(const Entry& entry) {
    if (entries_.size() == kMost) return;
    arrived_[Index(entry.destination)].push_back(entries_.size());
    entries_.push_back(entry);
  }
  // From the first to the last to be delivered: before each comes the one that had last arrived at
  // its rank when it began. Empty where there were too many messages to keep.
  [[nodiscard]] std::vector<Entry> Chain() const;

 private:
  static constexpr std::size_t kMost = 4'000'000;

  std::vector<Entry> entries_;
  std::vector<std::vector<std::size_t>> arrived_;  // by rank: indices of entries
};

}  // namespace trunkline
