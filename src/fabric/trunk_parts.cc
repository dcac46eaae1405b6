#include "fabric/trunk_parts.h"

#include <mutex>

#include "trunkline/base/check.h"

namespace trunkline {

ResourceId TrunkParts::Find(std::span<const LinkId> links, Rate capacity) {
  const std::vector<LinkId> key(links.begin(), links.end());
  {
    const std::shared_lock lock(mutex_);
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return ResourceId(known->second);
  }
  const std::scoped_lock lock(mutex_);
  const auto [entry, added] = numbers_.try_emplace(key, first_ + parts_.size());
  if (added) parts_.push_back({&entry->first, capacity});
  return ResourceId(entry->second);
}

const TrunkParts::Part& TrunkParts::PartOf(ResourceId part) const {
  const std::shared_lock lock(mutex_);
  TL_CHECK(Index(part) - first_ < parts_.size(), "no part of a trunk", Index(part));
  return parts_[Index(part) - first_];
}

}  // namespace trunkline
