#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"

namespace trunkline {

// A cable that is slow or broken from the start.
struct StaticFault {
  enum class Kind : std::uint8_t { kDegrade, kFail };

  // `leaf-0/spine-1`: every cable between the two; `nic:3/5`, `spine-2`: every network cable of the
  // device.
  std::string target;
  Kind kind = Kind::kFail;
  // kDegrade: what is left of each direction, as a rate or as a part of the cable's rate.
  std::optional<Rate> rate = {};
  std::optional<double> fraction = {};  // in (0, 1)
  SourcePosition where = {};
  std::string excerpt = {};
};

}  // namespace trunkline
