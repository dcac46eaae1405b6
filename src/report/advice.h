#pragma once

#include <string>
#include <vector>

#include "trunkline/scenario/result.h"

namespace trunkline {

// What to change, the largest first: only what follows from the run's numbers by a closed form or a
// bound, which each sentence states, or was tried (RunResult::tried).
[[nodiscard]] std::vector<std::string> AdviceOf(const RunResult& result);

}  // namespace trunkline
