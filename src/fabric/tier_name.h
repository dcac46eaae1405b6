#pragma once

#include <cstdint>
#include <string>

namespace trunkline {

// What switches of a tier are called: "leaf", "spine", "core", "tier4", …
[[nodiscard]] std::string TierName(std::uint8_t tier);

}  // namespace trunkline
