#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "trunkline/base/diagnostics.h"

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

// A refusal says what is wrong, under a code, in a form that can be printed.
inline void RequireExplained(const Diagnostics& diagnostics) {
  Require(!diagnostics.empty(), "a failure has a diagnostic");
  for (const Diagnostic& diagnostic : diagnostics) {
    Require(diagnostic.code.size() == 6 && diagnostic.code.starts_with("TL"),
            "a diagnostic has a code");
    Require(!diagnostic.message.empty(), "a diagnostic has a message");
    Require(Format(diagnostic).ends_with('\n'), "a diagnostic prints");
  }
}

}  // namespace trunkline
