#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/packet/plant.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// The links that all packets of a queue pair cross.
[[nodiscard]] std::vector<std::uint32_t> LinksOf(const Plant& plant, std::uint32_t queue_pair);

// What holds a queue pair up as things stand: a cable on its way that is down, or a queue there
// that waits for room; ": leaf-3 -> host-7 is down". Empty: nothing that can be seen.
[[nodiscard]] std::string WhatHoldsUp(const Fabric& fabric, const Plant& plant,
                                      std::uint32_t queue_pair);

}  // namespace trunkline
