#pragma once

#include "engine/flow/fold.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_run.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// The Timeline of a run that has come to its end, no sooner than `reached`: how far it was
// simulated where tasks are left.
[[nodiscard]] Result<Timeline> MakeTimeline(const EngineInput& input, const EngineOptions& options,
                                            const FlowProblem& problem, const Folding& folding,
                                            const TaskRun& runner, RunStatus status,
                                            Time reached = {});

}  // namespace trunkline
