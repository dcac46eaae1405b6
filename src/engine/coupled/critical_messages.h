#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

// Messages of what a run waits for, no more than kMost, of which all are too many.
class MessageLog {
 public:
  struct Entry {
    RankId source{};
    RankId destination{};
    std::uint32_t line = 0;  // of PacketLines
    std::int64_t bytes = 0;  // on the wire, headers aside
    Time begin;
    Time delivered;
  };
  static constexpr std::size_t kMost = 4'000'000;

  void Add(const Entry& entry) {
    if (entries_.size() < kMost) entries_.push_back(entry);
  }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// The chain of messages between `ranks` ranks that led to the end of a run, from the first to the
// last to be delivered: before each comes the one that had last arrived at its rank when it began.
// Empty where there were too many messages to keep.
[[nodiscard]] std::vector<MessageLog::Entry> CriticalChain(std::vector<MessageLog::Entry> messages,
                                                           std::uint32_t ranks);

}  // namespace trunkline
