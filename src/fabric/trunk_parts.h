#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <shared_mutex>
#include <span>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

// Parts of trunks: those links of one that lead to some destinations, where cables are missing.
// Each is a resource of its own beside the trunk, numbered when it is first met. Safe for
// concurrent users.
class TrunkParts {
 public:
  // `first`: the number of the first one.
  explicit TrunkParts(std::size_t first) : first_(first) {}

  // REQUIRES: `links` are in order; a part always has the same capacity.
  [[nodiscard]] ResourceId Find(std::span<const LinkId> links, Rate capacity);
  // REQUIRES: Find has returned it.
  [[nodiscard]] Rate capacity(ResourceId part) const { return PartOf(part).capacity; }
  [[nodiscard]] std::span<const LinkId> links(ResourceId part) const { return *PartOf(part).links; }

 private:
  struct Part {
    const std::vector<LinkId>* links;  // a key of numbers_
    Rate capacity;
  };
  [[nodiscard]] const Part& PartOf(ResourceId part) const;

  std::size_t first_;
  mutable std::shared_mutex mutex_;  // guards what follows; parts stay as they are
  std::map<std::vector<LinkId>, std::size_t> numbers_;
  std::deque<Part> parts_;
};

}  // namespace trunkline
