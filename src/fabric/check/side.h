#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

constexpr std::uint32_t kNoSwitch = UINT32_MAX;

// By device, whether it is a NIC or host with a network cable to another.
[[nodiscard]] std::vector<bool> FindPeers(const Fabric& fabric);

// One of the two fabrics, seen as its switches and what ties them. NICs with cables to other NICs
// count among the switches: they are matched by where their cables lead, too.
struct Side {
  // `peers`: the devices that are matched as switches are, though they are none.
  Side(const Fabric& of, const std::vector<bool>& peers);

  struct Tie {
    std::uint32_t to = 0;
    double cables = 0;
    double shared = 0;  // servers on both leaves, or switches above both spines
  };

  // Only switches of the same rank are alike: the tier, or below any for a NIC.
  [[nodiscard]] int RankOf(std::uint32_t s) const;

  const Fabric& fabric;
  std::vector<DeviceId> switches;
  std::vector<std::uint32_t> index;  // of devices among `switches`, or kNoSwitch
  std::vector<std::vector<Tie>> ties;
  std::vector<std::size_t> ends;       // cables to ends, by switch
  std::vector<std::uint64_t> colours;  // of a switch and its surroundings, two steps deep
  // By server: its ends without cables to other ends, and each end's leaves.
  std::vector<std::vector<DeviceId>> servers;
  std::map<DeviceId, std::vector<DeviceId>> leaves;

 private:
  using TieMaps = std::vector<std::map<std::uint32_t, Tie>>;  // by switch, by the other

  void FollowCables(TieMaps& tie);
  void ShareServers(TieMaps& tie) const;
  void ShareSwitchesAbove(TieMaps& tie) const;
  static void AddShared(const std::vector<std::uint32_t>& sharers, TieMaps& tie);
  void Colour();
};

}  // namespace trunkline
