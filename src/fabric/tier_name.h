#pragma once

#include <cstdint>
#include <string>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// What switches of a tier are called: "leaf", "spine", "core", "tier4", …
[[nodiscard]] std::string TierName(std::uint8_t tier);
// What a device is, whatever it is called: "leaf", "nic", "host".
[[nodiscard]] std::string DeviceClass(const Device& device);

}  // namespace trunkline
