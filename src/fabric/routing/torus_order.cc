#include "fabric/routing/torus_order.h"

namespace trunkline {
namespace {

// A step between neighbours.
struct Step {
  std::size_t dimension = 0;
  bool up = false;      // to the next higher coordinate, or closing the ring upwards
  bool closes = false;  // between the highest and the lowest coordinate
};

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

Step StepOf(const Fabric& fabric, const Link& link) {
  Step step{.dimension = FirstDifference(fabric, link.from, link.to)};
  const std::uint32_t from = Coordinate(fabric, link.from, step.dimension);
  const std::uint32_t to = Coordinate(fabric, link.to, step.dimension);
  step.up = to == from + 1 || from > to + 1;
  step.closes = to > from + 1 || from > to + 1;
  return step;
}

}  // namespace

void KeepFirstDimension(const Fabric& fabric, DeviceId at, DeviceId goal,
                        std::span<const LinkId> links, std::vector<LinkId>& kept) {
  const std::size_t dimension = FirstDifference(fabric, at, goal);
  kept.clear();
  bool up = false;
  for (const LinkId link : links) {
    const Step step = StepOf(fabric, fabric.link(link));
    if (step.dimension != dimension) continue;
    if (step.up && !up) kept.clear();
    if (up && !step.up) continue;
    up = step.up;
    kept.push_back(link);
  }
  if (kept.empty()) kept.assign(links.begin(), links.end());
}

void AddTorusChannels(const Fabric& fabric, std::span<const LinkId> path,
                      std::vector<std::uint8_t>& channels) {
  std::size_t dimension = fabric.torus().size();
  std::uint8_t channel = 0;
  for (const LinkId id : path) {
    const Step step = StepOf(fabric, fabric.link(id));
    if (step.dimension != dimension) channel = 0;
    dimension = step.dimension;
    channels.push_back(channel);
    if (step.closes) channel = 1;
  }
}

}  // namespace trunkline
