#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/leaf_cuts.h"
#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// What binds flows beside trunks where cables are missing or differ in rate. Parts of trunks: those
// links of one that lead to some destinations. Cuts: what leads from a leaf to some others and no
// part stands for. Each is a resource of its own, numbered when it is first met. Safe for
// concurrent users.
class TrunkParts {
 public:
  // REQUIRES: `fabric` outlives the parts, which are numbered behind its resources.
  explicit TrunkParts(const Fabric& fabric) : fabric_(fabric), first_(fabric.resource_count()) {}

  // REQUIRES: `links` are in order; a part always has the same capacity.
  [[nodiscard]] ResourceId Find(std::span<const LinkId> links, Rate capacity);
  [[nodiscard]] bool HasCuts(DeviceId leaf, CutSide side) { return !CutsOf(leaf, side).empty(); }
  // The cuts of `leaf` that flows between it and `other` cross.
  [[nodiscard]] std::span<const ResourceId> FindCutsOf(DeviceId leaf, CutSide side, DeviceId other);
  // REQUIRES: a part or a cut that was found.
  [[nodiscard]] Rate capacity(ResourceId part) const { return PartOf(part).capacity; }
  // None of a cut.
  [[nodiscard]] std::span<const LinkId> links(ResourceId part) const { return PartOf(part).links; }

 private:
  struct Part {
    std::span<const LinkId> links;  // a key of numbers_
    Rate capacity;
  };
  using CutsByLeaf = std::unordered_map<DeviceId, std::vector<ResourceId>>;

  [[nodiscard]] const Part& PartOf(ResourceId part) const;
  [[nodiscard]] ResourceId AddPart(Part part);
  [[nodiscard]] const CutsByLeaf& CutsOf(DeviceId leaf, CutSide side);

  const Fabric& fabric_;
  std::size_t first_;
  mutable std::shared_mutex mutex_;  // guards what follows; what is in there stays as it is
  std::map<std::vector<LinkId>, ResourceId> numbers_;
  std::map<std::pair<DeviceId, CutSide>, CutsByLeaf> cuts_;
  std::deque<Part> parts_;
};

}  // namespace trunkline
