#include "cli/command_line.h"
#include "cli/run_and_report.h"

namespace trunkline {

int Execute(const RunCommand& command) { return RunAndReport(command.scenario, command.flags); }

}  // namespace trunkline
