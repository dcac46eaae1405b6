#pragma once

#include "trunkline/scenario/result.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// Warns (TL1827) where packets of a lossless network might come to wait for each other in a circle,
// and says so where they cannot. REQUIRES: the result has its router.
void CheckDeadlock(const Scenario& scenario, RunResult& result);

}  // namespace trunkline
