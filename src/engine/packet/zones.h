#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

struct Plant;

// Parts of a fabric, whole switches and the endpoints at them, so far from each other that nothing
// which happens in one can matter to another within a window. A shard goes through a window zone by
// zone, so that what a zone's events touch comes into cache once for all of them.
struct Zones {
  std::uint32_t count = 1;
  std::vector<std::uint16_t> of_link;  // by link: of its receiving side; empty: there is one zone
  Time window;
  // Endpoints have one cable each, no shorter than a window: what happens at one matters to nobody
  // else within it, its own switch included.
  bool ends_apart = false;
};

// The zones of a plant. One where something acts on several at once: faults, news of queues,
// credits that come back, cores that serve many sockets, and buses.
[[nodiscard]] Zones FindZones(const Plant& plant, const Fabric& fabric);

// Whether a window holds enough of a zone's events, while links are busy, to be worth going from
// zone to zone.
[[nodiscard]] bool AreWorthwhile(const Zones& zones, const Plant& plant);

}  // namespace trunkline
