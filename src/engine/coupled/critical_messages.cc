#include "engine/coupled/critical_messages.h"

#include <algorithm>
#include <utility>

namespace trunkline {

std::vector<MessageLog::Entry> CriticalChain(std::vector<MessageLog::Entry> messages,
                                             std::uint32_t ranks) {
  using Entry = MessageLog::Entry;
  std::vector<Entry> chain;
  if (messages.empty() || messages.size() >= MessageLog::kMost) return chain;
  // The messages of a line arrive one after another, so that this is the order of no shard.
  std::ranges::stable_sort(
      messages, {}, [](const Entry& entry) { return std::pair(entry.delivered, entry.line); });
  std::vector<std::vector<std::size_t>> arrivals(ranks);  // by rank: indices of messages
  for (std::size_t i = 0; i < messages.size(); ++i) {
    arrivals[Index(messages[i].destination)].push_back(i);
  }
  auto last = static_cast<std::size_t>(
      std::ranges::lower_bound(messages, messages.back().delivered, {}, &Entry::delivered) -
      messages.begin());
  for (;;) {
    const Entry& next = messages[last];
    chain.push_back(next);
    // Of those that were delivered before it: messages that take no time are not in a circle.
    const std::vector<std::size_t>& arrived = arrivals[Index(next.source)];
    const auto until = std::ranges::lower_bound(arrived, last);
    const auto after =
        std::ranges::upper_bound(arrived.begin(), until, next.begin, {},
                                 [&](std::size_t entry) { return messages[entry].delivered; });
    if (after == arrived.begin()) break;
    last = *std::prev(after);
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace trunkline
