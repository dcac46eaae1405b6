#include "fabric/analysis/floor.h"

#include <algorithm>
#include <cmath>

namespace trunkline {

Floor::Floor(const Fabric& fabric, const FloorPlan& plan)
    : plan_(plan), places_(fabric.device_count()) {
  PlaceNodes(fabric);
  PlaceSwitches(fabric);
}

void Floor::PlaceNodes(const Fabric& fabric) {
  std::uint64_t nics = 0;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const DeviceKind kind = fabric.device(DeviceId(i)).kind;
    nics += kind == DeviceKind::kNic || kind == DeviceKind::kHost;
  }
  const std::uint64_t nodes = std::max<std::uint64_t>(1, fabric.node_count());
  const std::uint64_t nics_of_node = std::max<std::uint64_t>(1, nics / nodes);
  const std::uint64_t nodes_of_rack =
      std::max<std::uint64_t>(1, plan_.nics_per_rack / nics_of_node);
  const auto racks = static_cast<double>((nodes + nodes_of_rack - 1) / nodes_of_rack);
  const auto racks_of_row = static_cast<std::uint64_t>(
      std::ceil(std::sqrt(racks * plan_.row_pitch_m / plan_.rack_width_m)));
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.node == Device::kNoNode) continue;
    const std::uint64_t rack = device.node / nodes_of_rack;
    places_[i] = {static_cast<std::int32_t>(rack % racks_of_row),
                  static_cast<std::int32_t>(rack / racks_of_row)};
  }
}

void Floor::PlaceSwitches(const Fabric& fabric) {
  std::vector<DeviceId> switches;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind == DeviceKind::kSwitch) switches.push_back(DeviceId(i));
  }
  std::ranges::stable_sort(switches, {}, [&](DeviceId id) { return fabric.device(id).tier; });
  for (const DeviceId id : switches) {
    double rack = 0;
    double row = 0;
    double below = 0;
    for (LinkId out : fabric.out(id)) {
      const Device& device = fabric.device(fabric.link(out).to);
      if (device.kind == DeviceKind::kSwitch && device.tier >= fabric.device(id).tier) continue;
      const Place& place = places_[Index(fabric.link(out).to)];
      rack += place.rack;
      row += place.row;
      ++below;
    }
    if (below == 0) continue;
    places_[Index(id)] = {static_cast<std::int32_t>(std::lround(rack / below)),
                          static_cast<std::int32_t>(std::lround(row / below))};
  }
}

double Floor::Length(DeviceId a, DeviceId b) const {
  const Place& from = places_[Index(a)];
  const Place& to = places_[Index(b)];
  return plan_.slack_m + std::abs(from.rack - to.rack) * plan_.rack_width_m +
         std::abs(from.row - to.row) * plan_.row_pitch_m;
}

}  // namespace trunkline
