#pragma once

#include <cstdint>

#include "trunkline/base/units.h"

// Periods of a run of packets that are skipped because they would only repeat.
namespace trunkline {

// Skips periods in which all that is under way keeps its pace: every message moves as many packets
// in each of several windows of time, up to this share. Flows that spray packets wander by some
// percent within milliseconds (NSCC: 3 to 8); below that nothing of theirs would count as steady.
struct FastForwarding {
  double tolerance = 0.05;
};

// What a run has skipped. All its figures but `events` cover what was skipped.
struct SkippedTime {
  double tolerance = 0;
  std::uint32_t skips = 0;
  Time skipped;
  // No completion is further from that of the whole run, if paces stayed in the band that they were
  // seen in before and after each skip.
  Time error;
};

}  // namespace trunkline
