#pragma once

#include "cli/command_line.h"
#include "trunkline/scenario/run.h"

namespace trunkline {

// Runs a scenario under the flags and prints the result: as text by `render`, or as --json and
// --explain ask; files go to --out. Returns the exit status.
int RunAndReport(const Result<Scenario>& scenario, const RunFlags& flags,
                 std::string (*render)(const RunResult&));

}  // namespace trunkline
