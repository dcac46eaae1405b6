#pragma once

#include <string>
#include <vector>

#include "trunkline/scenario/result.h"

namespace trunkline {

// Tasks that never ended: of the run, or of its window, if it has one.
[[nodiscard]] const std::vector<BlockedTask>& BlockedOf(const RunResult& result);

// Who waits for whom, from the first of the tasks on, until somebody waits for no one rank or for
// one who has been named. REQUIRES: there are tasks.
[[nodiscard]] std::string ChainOfWaits(const std::vector<BlockedTask>& blocked);

}  // namespace trunkline
