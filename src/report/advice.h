#pragma once

#include <string>
#include <vector>

#include "trunkline/scenario/result.h"
#include "trunkline/training/plan.h"

namespace trunkline {

// What to change, the largest first: only what follows from the run's numbers by a closed form or a
// bound, which each sentence states, or was tried (RunResult::tried).
[[nodiscard]] std::vector<std::string> Advice(const RunResult& result);

// The share of a pipelined step that stays idle when stages are equal and transfers are free:
// (p - 1) / (v m + p - 1), of (p - 1) / (v m) per unit of compute.
[[nodiscard]] double PipelineBubbleShare(const TrainingPlan& plan, std::int64_t micro_batches);

}  // namespace trunkline
