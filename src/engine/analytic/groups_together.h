#pragma once

#include "engine/analytic/costs.h"
#include "engine/analytic/step_run.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// For how long two streams of one rank were in collectives at once whose groups both leave their
// node, so that they meet on its NICs, as long as each takes by itself. Of the rank and streams for
// which that is longest.
[[nodiscard]] Result<FabricCosts::Together> LongestTogether(const EngineInput& input,
                                                            const StepRun& run, StepCosts& costs);

}  // namespace trunkline
