#include "fabric/analysis/floor.h"

#include <algorithm>
#include <cmath>
#include <optional>

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
    nics += IsNetworkEnd(kind);
  }
  const std::uint64_t nodes = std::max<std::uint64_t>(1, fabric.node_count());
  const std::uint64_t nics_of_node = std::max<std::uint64_t>(1, nics / nodes);
  const std::uint64_t nodes_of_rack =
      std::max<std::uint64_t>(1, plan_.nics_per_rack / nics_of_node);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.node != Device::kNoNode) places_[i] = PlaceOfRack(device.node / nodes_of_rack);
  }
}

Floor::Place Floor::PlaceOfRack(std::uint64_t rack) const {
  // A block is as many racks side by side as make a row's pitch; square s has s rows of s blocks.
  const auto block =
      static_cast<std::int64_t>(std::max(1.0, std::round(plan_.row_pitch_m / plan_.rack_width_m)));
  std::int64_t square = 0;
  while (block * (square + 1) * (square + 1) <= static_cast<std::int64_t>(rack)) ++square;
  // What turns square s into s + 1: s blocks below each other, and a row of s + 1. On the right and
  // below where s is even; else on the left and above, and all the other way round, so that racks
  // that follow each other stand side by side.
  const bool left = square % 2 == 1;
  const std::int64_t first = -(square / 2);  // of the square's rows, and of its columns of blocks
  const std::int64_t last = first + square;  // the one after
  const std::int64_t step = static_cast<std::int64_t>(rack) - block * square * square;
  std::int64_t column = block * last + step % block;
  std::int64_t row = first + step / block;
  if (step >= block * square) {
    column = block * (last + 1) - 1 - (step - block * square);
    row = last;
  }
  if (left) {  // mirrored at the middle of the square
    column = block * (first + last) - 1 - column;
    row = first + last - 1 - row;
  }
  return {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)};
}

void Floor::PlaceSwitches(const Fabric& fabric) {
  std::vector<DeviceId> switches;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind == DeviceKind::kSwitch) switches.push_back(DeviceId(i));
  }
  std::ranges::stable_sort(switches, {}, [&](DeviceId id) { return fabric.device(id).tier; });
  for (const DeviceId id : switches) {
    std::optional<DeviceId> first;
    for (LinkId out : fabric.out(id)) {
      const DeviceId to = fabric.link(out).to;
      const Device& device = fabric.device(to);
      if (device.kind == DeviceKind::kSwitch && device.tier >= fabric.device(id).tier) continue;
      if (!first || to < *first) first = to;
    }
    if (first) places_[Index(id)] = places_[Index(*first)];
  }
}

double Floor::Length(DeviceId a, DeviceId b) const {
  const Place& from = places_[Index(a)];
  const Place& to = places_[Index(b)];
  return plan_.slack_m + std::abs(from.rack - to.rack) * plan_.rack_width_m +
         std::abs(from.row - to.row) * plan_.row_pitch_m;
}

}  // namespace trunkline
