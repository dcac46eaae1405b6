#include "engine/coupled/critical_messages.h"

#include <algorithm>

namespace trunkline {

std::vector<MessageLog::Entry> MessageLog::Chain() const {
  std::vector<Entry> chain;
  if (entries_.empty() || entries_.size() == kMost) return chain;
  chain.push_back(*std::ranges::max_element(entries_, {}, &Entry::delivered));
  for (;;) {
    const Entry& next = chain.back();
    const std::vector<std::size_t>& arrived = arrived_[Index(next.source)];
    const auto after = std::ranges::upper_bound(
        arrived, next.begin, {}, [&](std::size_t entry) { return entries_[entry].delivered; });
    if (after == arrived.begin()) break;
    chain.push_back(entries_[*std::prev(after)]);
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace trunkline
