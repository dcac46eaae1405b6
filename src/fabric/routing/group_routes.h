#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// The ways through a fabric whose switches form groups (a dragonfly): a path within a group stays
// inside it, one to another group crosses exactly one cable between the two. Where no cable joins
// them, it passes one group that cables join to both.
//
// Switches are numbered as the fabric lists them, groups by Device::group. Safe for concurrent
// readers.
class GroupRoutes {
 public:
  static constexpr std::uint32_t kUnreachable = UINT16_MAX;
  static constexpr std::uint32_t kAnySwitch = UINT32_MAX;

  // Where a packet goes: a switch, or any of a group.
  struct Goal {
    std::uint32_t group = 0;
    std::uint32_t at = kAnySwitch;
  };
  // A cable to another group.
  struct Gateway {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    LinkId link{};
  };

  // `original` has the names of the fabric's links in the answers; empty: their own. REQUIRES:
  // HasGroups(fabric).
  explicit GroupRoutes(const Fabric& fabric, std::span<const LinkId> original = {});

  [[nodiscard]] std::uint32_t group_count() const { return group_count_; }
  [[nodiscard]] std::uint32_t switch_count() const {
    return static_cast<std::uint32_t>(group_.size());
  }
  [[nodiscard]] std::uint32_t group(std::uint32_t at) const { return group_[at]; }
  // The number of a switch. REQUIRES: `device` is one.
  [[nodiscard]] std::uint32_t switch_of(DeviceId device) const {
    return switch_of_device_[Index(device)];
  }
  [[nodiscard]] Goal ToSwitch(std::uint32_t at) const { return {group_[at], at}; }
  [[nodiscard]] bool Reached(std::uint32_t at, const Goal& goal) const {
    return goal.at == kAnySwitch ? group_[at] == goal.group : at == goal.at;
  }

  // Whether the way from `at` to `home` by `via` exists and is none of a minimal path: both ends
  // are of other groups, which cables join to that of `via`.
  [[nodiscard]] bool IsDetour(std::uint32_t at, const Goal& via, const Goal& home) const;

  // Cables on the shortest way; kUnreachable when there is none.
  [[nodiscard]] std::uint32_t Hops(std::uint32_t at, const Goal& goal) const;

  // The same by `via`. REQUIRES: IsDetour(at, via, home).
  [[nodiscard]] std::uint32_t HopsBy(std::uint32_t at, const Goal& via, const Goal& home) const;

  // Calls visit(link) for each link by which a shortest way begins. REQUIRES: !Reached(at, goal).
  template <typename Visit>
  void ForEachNext(std::uint32_t at, const Goal& goal, Visit visit) const {
    if (group_[at] == goal.group) {
      for (const LinkId link : LocalPorts(at, goal.at)) visit(link);
      return;
    }
    const std::uint32_t best = Hops(at, goal);
    ForEachGateway(group_[at], goal.group, [&](const Gateway& gate) {
      if (Through(at, gate, goal) != best) return;
      if (gate.from == at) {
        visit(gate.link);
      } else {
        for (const LinkId link : LocalPorts(at, gate.from)) visit(link);
      }
    });
  }

  // Whether a shortest way inside the group of `at` comes there by `from` and goes on by `to`.
  [[nodiscard]] bool Continues(std::uint32_t at, const Link& from, LinkId to) const;

  // Calls visit(gateway) for each cable by which minimal paths from one group leave for another.
  template <typename Visit>
  void ForEachGateway(std::uint32_t from, std::uint32_t to, Visit visit) const {
    if (AreJoined(from, to)) {
      for (const Gateway& gate : Gateways(from, to)) visit(gate);
      return;
    }
    for (std::uint32_t between = 0; between < group_count_; ++between) {
      if (!AreJoined(between, to)) continue;
      for (const Gateway& gate : Gateways(from, between)) visit(gate);
    }
  }
  // Whether cables join two groups.
  [[nodiscard]] bool AreJoined(std::uint32_t from, std::uint32_t to) const {
    return !Gateways(from, to).empty();
  }

 private:
  // The cables from one group to another.
  [[nodiscard]] std::span<const Gateway> Gateways(std::uint32_t from, std::uint32_t to) const {
    const std::size_t pair = std::size_t{from} * group_count_ + to;
    return std::span(gateways_).subspan(gateways_begin_[pair],
                                        gateways_begin_[pair + 1] - gateways_begin_[pair]);
  }
  [[nodiscard]] std::uint32_t LocalHops(std::uint32_t at, std::uint32_t goal) const {
    return local_hops_[rows_[at] + place_[goal]];
  }
  [[nodiscard]] std::span<const LinkId> LocalPorts(std::uint32_t at, std::uint32_t goal) const {
    const std::size_t row = rows_[at] + place_[goal];
    return std::span(ports_).subspan(ports_begin_[row], ports_begin_[row + 1] - ports_begin_[row]);
  }
  [[nodiscard]] std::uint32_t Through(std::uint32_t at, const Gateway& gate,
                                      const Goal& goal) const {
    const std::uint32_t before = LocalHops(at, gate.from);
    const std::uint32_t after = group_[gate.to] != goal.group ? Hops(gate.to, goal)
                                : goal.at == kAnySwitch       ? 0
                                                              : LocalHops(gate.to, goal.at);
    return std::min(kUnreachable, before + 1 + after);
  }
  void FindGateways(const Fabric& fabric, std::span<const DeviceId> switches);
  void SearchGroup(const Fabric& fabric, std::span<const DeviceId> switches,
                   std::span<const std::uint32_t> members);

  std::uint32_t group_count_ = 0;
  std::vector<std::uint32_t> switch_of_device_;
  std::vector<std::vector<std::uint32_t>> members_;  // by group
  std::vector<std::uint32_t> group_;                 // by switch
  std::vector<std::uint32_t> place_;                 // by switch, in its group
  std::vector<std::size_t> rows_;          // by switch: [its row + place of another of its group] …
  std::vector<std::uint16_t> local_hops_;  // … links between the two …
  std::vector<std::uint32_t> ports_begin_;  // … and the first of the links that begin the way
  std::vector<LinkId> ports_;
  std::vector<std::uint32_t> gateways_begin_;  // [from group x group_count_ + to group]
  std::vector<Gateway> gateways_;
};

// Whether every switch is in a group, and every NIC and host on one switch.
[[nodiscard]] bool HasGroups(const Fabric& fabric);

// Whether cables join every two groups. REQUIRES: HasGroups(fabric).
[[nodiscard]] bool AllGroupsAreJoined(const Fabric& fabric);

}  // namespace trunkline
