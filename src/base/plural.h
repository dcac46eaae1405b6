#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trunkline {

// 1234567 -> "1,234,567".
[[nodiscard]] std::string Grouped(double count);
[[nodiscard]] inline std::string GroupedCount(std::uint64_t count) {
  return Grouped(static_cast<double>(count));
}
// 1 -> "1 switch", 1234 -> "1,234 switches". `many` where it is not `one` with s or es.
[[nodiscard]] std::string Plural(std::uint64_t count, std::string_view one,
                                 std::string_view many = "");

}  // namespace trunkline
