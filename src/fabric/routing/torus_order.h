#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

// Dimension by dimension through a torus. REQUIRES: fabric.torus() is not empty.
namespace trunkline {

// Of `links`, which lead from `at` along shortest paths to the switch `goal`, those along the first
// dimension in which the two differ; of the two ways round a ring that are equally long, the one
// upwards. All of them where none qualifies: cables are missing.
void KeepFirstDimension(const Fabric& fabric, DeviceId at, DeviceId goal,
                        std::span<const LinkId> links, std::vector<LinkId>& kept);

// The virtual channel of each link of a path between switches that goes dimension by dimension: 0,
// and 1 from the link on that follows the closing link of its ring.
void AddTorusChannels(const Fabric& fabric, std::span<const LinkId> path,
                      std::vector<std::uint8_t>& channels);

}  // namespace trunkline
