#pragma once

#include <cstdint>
#include <string>

#include "engine/packet/plant.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// What holds a queue pair up as things stand: a cable on its way that is down, or a queue there
// that waits for room; ": leaf-3 -> host-7 is down". Empty: nothing that can be seen.
[[nodiscard]] std::string WhatHoldsUp(const Fabric& fabric, const Plant& plant,
                                      std::uint32_t queue_pair);

}  // namespace trunkline
