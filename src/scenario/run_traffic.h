#pragma once

#include "trunkline/base/diagnostics.h"
#include "trunkline/scenario/result.h"
#include "trunkline/scenario/run.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// Makes the messages of `workload.traffic`, runs them and sums up. REQUIRES: `result` has its
// fabric, router and placement.
[[nodiscard]] Result<void> RunTraffic(const Scenario& scenario, const TrafficInput& input,
                                      const RunOptions& options, RunResult& result);

}  // namespace trunkline
