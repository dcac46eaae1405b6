#pragma once

#include "engine/analytic/fabric_costs.h"
#include "trunkline/base/progress.h"
#include "trunkline/scenario/result.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// Fills in the time without overlap, the serial time of a pipeline, and result.tried: the step by
// the analytic engine as it is, and with each single change of its plan or placement that a
// scenario accepts and that fits the memory. Nothing where that engine cannot run it. REQUIRES:
// `result` is that of the scenario's training step; `costs` are of its router and transport.
void TryChanges(const Scenario& scenario, const StopToken* stop, FabricCosts& costs,
                RunResult& result);

}  // namespace trunkline
