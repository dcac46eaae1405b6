#pragma once

#include "trunkline/base/units.h"

namespace trunkline {

// Seconds as Time, rounded up; Time::Horizon() where they are beyond it. REQUIRES: seconds >= 0.
[[nodiscard]] inline Time SaturatingTime(double seconds) {
  return seconds < Time::Horizon().seconds() ? Time::FromSeconds(seconds) : Time::Horizon();
}

}  // namespace trunkline
