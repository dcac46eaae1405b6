#include "fabric/routing/torus_order.h"

namespace trunkline {
namespace {

std::uint32_t Coordinate(const Fabric& fabric, DeviceId at, std::size_t dimension) {
  std::uint32_t place = fabric.device(at).local;
  for (std::size_t d = 0; d < dimension; ++d) place /= fabric.torus()[d];
  return place % fabric.torus()[dimension];
}

std::size_t FirstDifference(const Fabric& fabric, DeviceId a, DeviceId b) {
  std::size_t d = 0;
  while (d + 1 < fabric.torus().size() && Coordinate(fabric, a, d) == Coordinate(fabric, b, d)) ++d;
  return d;
}

}  // namespace

TorusStep TorusStepOf(const Fabric& fabric, LinkId id) {
  const Link& link = fabric.link(id);
  const std::size_t dimension = FirstDifference(fabric, link.from, link.to);
  const std::uint32_t from = Coordinate(fabric, link.from, dimension);
  const std::uint32_t to = Coordinate(fabric, link.to, dimension);
  return {.dimension = static_cast<std::uint8_t>(dimension),
          .up = to == from + 1 || from > to + 1,
          .closes = to > from + 1 || from > to + 1};
}

void KeepFirstDimension(const Fabric& fabric, DeviceId at, DeviceId goal,
                        std::span<const LinkId> links, std::vector<LinkId>& kept) {
  const std::size_t dimension = FirstDifference(fabric, at, goal);
  kept.clear();
  bool up = false;
  for (const LinkId link : links) {
    const TorusStep step = TorusStepOf(fabric, link);
    if (step.dimension != dimension) continue;
    if (step.up && !up) kept.clear();
    if (up && !step.up) continue;
    up = step.up;
    kept.push_back(link);
  }
  if (kept.empty()) kept.assign(links.begin(), links.end());
}

bool IsWholeTorus(const Fabric& fabric) {
  if (fabric.torus().empty()) return false;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind != DeviceKind::kSwitch) continue;
    std::vector<bool> joined(2 * fabric.torus().size(), false);  // by dimension and direction
    for (const LinkId id : fabric.out(DeviceId(i))) {
      const Link& link = fabric.link(id);
      if (fabric.device(link.to).kind != DeviceKind::kSwitch) continue;
      const TorusStep step = TorusStepOf(fabric, id);
      joined[2 * step.dimension + (step.up ? 1 : 0)] = true;
    }
    for (std::size_t d = 0; d < fabric.torus().size(); ++d) {
      const std::uint32_t side = fabric.torus()[d];
      const bool both = joined[2 * d] && joined[2 * d + 1];
      const bool one = joined[2 * d] || joined[2 * d + 1];  // all that two have
      if (side > 2 ? !both : side == 2 && !one) return false;
    }
  }
  return true;
}

void AddTorusChannels(const Fabric& fabric, std::span<const LinkId> path,
                      std::vector<std::uint8_t>& channels) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    channels.push_back(i == 0 ? 0
                              : TorusChannelBehind(TorusStepOf(fabric, path[i - 1]),
                                                   channels.back(), TorusStepOf(fabric, path[i])));
  }
}

}  // namespace trunkline
