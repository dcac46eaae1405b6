#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

// Dimension by dimension through a torus. REQUIRES, of all but IsWholeTorus: fabric.torus() is not
// empty.
namespace trunkline {

// Whether a fabric is a torus none of whose rings lacks a cable.
[[nodiscard]] bool IsWholeTorus(const Fabric& fabric);

// Of `links`, which lead from `at` along shortest paths to the switch `goal`, those along the first
// dimension in which the two differ; of the two ways round a ring that are equally long, the one
// upwards. All of them where none qualifies: cables are missing.
void KeepFirstDimension(const Fabric& fabric, DeviceId at, DeviceId goal,
                        std::span<const LinkId> links, std::vector<LinkId>& kept);

// A link between neighbours.
struct TorusStep {
  std::uint8_t dimension = 0;
  bool up = false;      // to the next higher coordinate, or closing the ring upwards
  bool closes = false;  // between the highest and the lowest coordinate
};
[[nodiscard]] TorusStep TorusStepOf(const Fabric& fabric, LinkId link);

// The virtual channel of a step behind another, whose own is `channel`, on a path that goes
// dimension by dimension: 0, and 1 from the link on that follows the closing link of its ring.
[[nodiscard]] constexpr std::uint8_t TorusChannelBehind(TorusStep before, std::uint8_t channel,
                                                        TorusStep next) {
  if (next.dimension != before.dimension) return 0;
  return before.closes ? 1 : channel;
}

// That of each link of such a path between switches.
void AddTorusChannels(const Fabric& fabric, std::span<const LinkId> path,
                      std::vector<std::uint8_t>& channels);

}  // namespace trunkline
