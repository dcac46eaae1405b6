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

  struct Set {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  // What a switch has, found once for many packets.
  struct Row {
    const std::uint32_t* sets_of_group = nullptr;
    const Set* sets = nullptr;
    const std::uint32_t* links = nullptr;
    [[nodiscard]] std::span<const std::uint32_t> Ports(std::uint32_t group) const {
      const Set& set = sets[sets_of_group[group]];
      return {links + set.begin, set.count};
    }
  };
  [[nodiscard]] Row RowOf(std::uint32_t at) const {
    return {table_.data() + std::size_t{at} * groups_, sets_.data(), links_.data()};
  }

  // That of `ports` which an entropy means at a switch, by its multiplier; where there are none, as
  // on a switch of the destination, `last`. No branch depends on where the switch is.
  [[nodiscard, gnu::always_inline]] static std::uint32_t Spray(std::span<const std::uint32_t> ports,
                                                               std::uint32_t multiplier,
                                                               std::uint32_t entropy,
                                                               std::uint32_t last) {
    const std::uint64_t spread = entropy * multiplier;
    const std::uint32_t link = ports.data()[(spread * ports.size()) >> 32];
    const std::uint32_t none = ports.empty() ? UINT32_MAX : 0;
    return (link & ~none) | (last & none);
  }

  // Links of `at`, a switch's index, towards `group`; empty at the switches of the group itself,
  // whose only choice is the destination's own link, and where nothing leads there. Its data() can
  // be read in any case.
  [[nodiscard]] std::span<const std::uint32_t> Ports(std::uint32_t at, std::uint32_t group) const {
    return RowOf(at).Ports(group);
  }

 private:
  std::uint32_t groups_ = 0;
  std::vector<std::uint32_t> table_;  // [switch x groups_ + group] -> index into sets_
  std::vector<Set> sets_;             // the first is empty, and begins where something can be read
  std::vector<std::uint32_t> links_;
};

}  // namespace trunkline
