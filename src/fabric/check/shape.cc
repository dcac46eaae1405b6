#include "fabric/check/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "fabric/tier_name.h"

namespace trunkline {
namespace {

struct Shape {
  std::uint64_t nics = 0;
  std::map<std::uint8_t, std::uint64_t> switches;  // by tier
};

Shape ShapeOf(const Fabric& fabric) {
  Shape shape;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind == DeviceKind::kSwitch) {
      ++shape.switches[device.tier];
    } else if (device.kind == DeviceKind::kNic || device.kind == DeviceKind::kHost) {
      ++shape.nics;
    }
  }
  return shape;
}

}  // namespace

std::vector<ShapeCount> CompareShapes(const Fabric& found, const Fabric& expected) {
  Shape mine = ShapeOf(found);
  Shape theirs = ShapeOf(expected);
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
