#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/scenario/scenario.h"

namespace trunkline {

struct PlacedJobs {
  std::vector<Placement> jobs;   // by job
  std::vector<DeviceId> others;  // endpoints that are left, in order
};

// Jobs whose placement lists endpoints get those; the others take what is free, in the order of the
// list. TL1221: two jobs on one endpoint. TL1420, TL1421.
[[nodiscard]] Result<PlacedJobs> PlaceJobs(const Scenario& scenario);

}  // namespace trunkline
