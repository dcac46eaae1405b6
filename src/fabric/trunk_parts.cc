#include "fabric/trunk_parts.h"

#include <mutex>

#include "trunkline/base/check.h"

namespace trunkline {

ResourceId TrunkParts::Find(std::span<const LinkId> links, Rate capacity) {
  std::vector<LinkId> key(links.begin(), links.end());
  {
    const std::shared_lock lock(mutex_);
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
  }
  const std::scoped_lock lock(mutex_);
  const auto [entry, added] = numbers_.try_emplace(std::move(key));
  if (added) entry->second = AddPart({entry->first, capacity});
  return entry->second;
}

ResourceId TrunkParts::AddPart(Part part) {
  parts_.push_back(part);
  return ResourceId(first_ + parts_.size() - 1);
}

const TrunkParts::CutsByLeaf& TrunkParts::CutsOf(DeviceId leaf, CutSide side) {
  {
    const std::shared_lock lock(mutex_);
    const auto known = cuts_.find({leaf, side});
    if (known != cuts_.end()) return known->second;
  }
  const std::scoped_lock lock(mutex_);
  const auto [entry, added] = cuts_.try_emplace({leaf, side});
  if (!added) return entry->second;
  for (const LeafCut& cut : FindLeafCuts(fabric_, leaf, side)) {
    const ResourceId resource = AddPart({{}, cut.capacity});
    for (const DeviceId other : cut.leaves) entry->second[other].push_back(resource);
  }
  return entry->second;
}

std::span<const ResourceId> TrunkParts::FindCutsOf(DeviceId leaf, CutSide side, DeviceId other) {
  const CutsByLeaf& cuts = CutsOf(leaf, side);
  const auto found = cuts.find(other);
  if (found == cuts.end()) return {};
  return found->second;
}

const TrunkParts::Part& TrunkParts::PartOf(ResourceId part) const {
  const std::shared_lock lock(mutex_);
  TL_CHECK(Index(part) - first_ < parts_.size(), "no part of a trunk", Index(part));
  return parts_[Index(part) - first_];
}

}  // namespace trunkline
