#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// What the fuzz targets share.
namespace trunkline {

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process, as a sanitizer would, when `law` does not hold for this input.
inline void Require(bool law, const char* what) {
  if (law) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

}  // namespace trunkline
