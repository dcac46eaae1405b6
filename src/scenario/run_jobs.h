#pragma once

#include "trunkline/scenario/run.h"

namespace trunkline {

// Runs each job of the scenario alone, then all at once under the background, if any; the timeline
// and links are those of all. REQUIRES: the scenario has jobs; fabric and router are set.
[[nodiscard]] Result<void> RunJobs(const Scenario& scenario, const RunOptions& options,
                                   RunResult& result);

}  // namespace trunkline
