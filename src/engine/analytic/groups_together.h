#pragma once

#include "engine/analytic/costs.h"
#include "engine/analytic/step_run.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// The two streams of one rank that were longest in collectives at once whose groups both leave
// their node, so that they meet on its NICs.
[[nodiscard]] Result<GroupsTogether> LongestTogether(const EngineInput& input, const StepRun& run,
                                                     StepCosts& costs);

}  // namespace trunkline
