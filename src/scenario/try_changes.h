#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/analytic/fabric_costs.h"
#include "scenario/choose.h"
#include "trunkline/base/progress.h"
#include "trunkline/scenario/result.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// A training step by the analytic engine; nothing where that cannot run it.
struct StepTrials {
  std::optional<Time> as_is;  // nothing, too, where the run itself says so
  std::optional<Time> without_overlap;
  // With each single change of its plan or placement that a scenario accepts and that fits the
  // memory.
  std::vector<TriedChange> changes;
};

// run() on the calling thread and, side by side with it, the trials of its step, until run() says
// that nobody wants them. `result` is that
// of the scenario's training step, in the making: the run leaves alone what it has already, which
// is all that a run needs, and the memory. `costs` are of its router and transport, `chooser` of
// its placement.
[[nodiscard]] StepTrials TryBeside(const std::function<bool()>& run, const Scenario& scenario,
                                   const StopToken* stop, FabricCosts& costs, Chooser& chooser,
                                   const RunResult& result);

// Fills in the time without overlap, the serial time of a pipeline, and result.tried. REQUIRES: the
// run has finished.
void AddTrials(StepTrials trials, RunResult& result);

}  // namespace trunkline
