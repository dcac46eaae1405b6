#pragma once

#include "cli/command_line.h"
#include "trunkline/scenario/run.h"

namespace trunkline {

// Runs the scenario of the file `path`, or the one that the flags hold when it is empty, and prints
// the result as text, or as --json and --explain ask; files go to --out. Returns the exit status.
int RunAndReport(const std::string& path, const RunFlags& flags);

}  // namespace trunkline
