#pragma once

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Whether endpoints that sit alike in a fabric of tiers fare alike: all nodes are of one make,
// whose GPUs meet at NVSwitches and have a NIC each; all cables between two tiers are of one kind,
// and every switch, NIC and host of a tier has as many of them; none joins two switches of one
// tier. O(links).
[[nodiscard]] bool PairsAreAlike(const Fabric& fabric);

// Whether a GPU has a scale-up link to another, rather than to a switch.
[[nodiscard]] bool IsMeshed(const Fabric& fabric, DeviceId gpu);

}  // namespace trunkline
