#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/fabric/check.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// What should be between two devices of the fabric found.
struct WantedCables {
  std::uint32_t count = 0;
  Rate rate;
};

// The lower device of a pair comes first: by tier, then by id.
using DevicePair = std::pair<DeviceId, DeviceId>;

// Network cables as they should be, in ids of the fabric found; switches that it lacks are numbered
// behind its own devices.
struct WantedFabric {
  std::map<DevicePair, WantedCables> cables;
  std::vector<std::pair<Device, std::string>> missing;  // switches, with their names
  std::vector<FabricFinding> of_servers;                // what they lack
  std::vector<DeviceId> extra;
  std::map<DeviceId, double> rate_to_missing;  // of switches, to ends that are missing; bytes/s
  bool of_another = false;                     // not the regularity of the fabric itself
  std::string expectation;
};

[[nodiscard]] DevicePair PairOf(const Fabric& fabric, DeviceId a, DeviceId b);
// The links of each pair of devices that network cables join, from the lower to the higher.
[[nodiscard]] std::map<DevicePair, std::vector<LinkId>> CablesByPair(const Fabric& fabric);
// The most frequent; of equally frequent ones the greatest. REQUIRES: not empty.
template <typename T>
[[nodiscard]] T Mode(const std::map<T, std::size_t>& counts) {
  auto best = counts.begin();
  for (auto at = counts.begin(); at != counts.end(); ++at) {
    if (at->second >= best->second) best = at;
  }
  return best->first;
}

// What most of the fabric's equal switches have, all of them should.
[[nodiscard]] WantedFabric WantRegularity(const Fabric& found);
// What `expected` has, once its devices are matched with those found.
[[nodiscard]] WantedFabric WantAs(const Fabric& found, const Fabric& expected);

}  // namespace trunkline
