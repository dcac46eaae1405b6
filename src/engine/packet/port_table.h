#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

class NetworkPaths;

// The ports by which each switch can forward to each destination class, all on minimal paths: one
// look-up a hop, for policies that choose hop by hop.
class PortTable {
 public:
  // `original` has the names of the fabric's links in the table; empty: their own.
  PortTable(const Fabric& fabric, const NetworkPaths& paths,
            std::span<const std::uint32_t> switch_of_device, std::span<const LinkId> original = {});

  // Links of `at`, a switch's index, towards `group`; empty at the switches of the group itself,
  // whose only choice is the destination's own link, and where nothing leads there. Its data() can
  // be read in any case.
  [[nodiscard]] std::span<const std::uint32_t> Ports(std::uint32_t at, std::uint32_t group) const {
    const Set& set = sets_[table_[std::size_t{at} * groups_ + group]];
    return std::span(links_).subspan(set.begin, set.count);
  }

 private:
  struct Set {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  std::uint32_t groups_ = 0;
  std::vector<std::uint32_t> table_;  // [switch x groups_ + group] -> index into sets_
  std::vector<Set> sets_;             // the first is empty, and begins where something can be read
  std::vector<std::uint32_t> links_;
};

}  // namespace trunkline
