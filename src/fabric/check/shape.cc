#include "fabric/check/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "fabric/tier_name.h"

namespace trunkline {
namespace {

struct DeviceCounts {
  std::uint64_t nics = 0;
  std::map<std::uint8_t, std::uint64_t> switches;  // by tier
};

DeviceCounts ShapeOf(const Fabric& fabric) {
  DeviceCounts shape;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind == DeviceKind::kSwitch) {
      ++shape.switches[device.tier];
    } else if (IsNetworkEnd(device.kind)) {
      ++shape.nics;
    }
  }
  return shape;
}

// A torus, a dragonfly: switches of one tier with cables between them. Tiers say nothing of it; the
// file of one where a switch has no servers has others.
bool IsFlat(const Fabric& fabric, const DeviceCounts& shape) {
  if (shape.switches.size() != 1) return false;
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (fabric.device(link.from).kind == DeviceKind::kSwitch &&
        fabric.device(link.to).kind == DeviceKind::kSwitch) {
      return true;
    }
  }
  return false;
}

void JoinTiers(DeviceCounts& shape) {
  std::uint64_t all = 0;
  for (const auto& [tier, count] : shape.switches) all += count;
  shape.switches = {{0, all}};
}

}  // namespace

std::vector<ShapeCount> CompareShapes(const Fabric& found, const Fabric& expected) {
  DeviceCounts mine = ShapeOf(found);
  DeviceCounts theirs = ShapeOf(expected);
  if (IsFlat(found, mine) || IsFlat(expected, theirs)) {
    JoinTiers(mine);
    JoinTiers(theirs);
  }
  std::vector<ShapeCount> rows{{"servers", found.node_count(), expected.node_count()},
                               {"NICs", mine.nics, theirs.nics}};
  std::map<std::uint8_t, std::uint64_t> tiers = mine.switches;
  tiers.insert(theirs.switches.begin(), theirs.switches.end());
  for (const auto& [tier, count] : tiers) {
    rows.push_back({tier == 0 ? "switches" : TierName(tier) + " switches", mine.switches[tier],
                    theirs.switches[tier]});
  }
  const bool same =
      std::ranges::all_of(rows, [](const ShapeCount& row) { return row.found == row.expected; });
  return same ? std::vector<ShapeCount>() : rows;
}

}  // namespace trunkline
