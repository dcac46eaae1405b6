#include "engine/coupled/critical_messages.h"

#include <algorithm>

namespace trunkline {

std::vector<MessageLog::Entry> MessageLog::Chain() const {
  std::vector<Entry> chain;
  if (entries_.empty() || entries_.size() == kMost) return chain;
  auto last = static_cast<std::size_t>(std::ranges::max_element(entries_, {}, &Entry::delivered) -
                                       entries_.begin());
  for (;;) {
    const Entry& next = entries_[last];
    chain.push_back(next);
    // Of those that were delivered before it: messages that take no time are not in a circle.
    const std::vector<std::size_t>& arrived = arrived_[Index(next.source)];
    const auto until = std::ranges::lower_bound(arrived, last);
    const auto after =
        std::ranges::upper_bound(arrived.begin(), until, next.begin, {},
                                 [&](std::size_t entry) { return entries_[entry].delivered; });
    if (after == arrived.begin()) break;
    last = *std::prev(after);
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace trunkline
