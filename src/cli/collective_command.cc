#include <algorithm>

#include "cli/command_line.h"
#include "cli/run_and_report.h"
#include "trunkline/report/report.h"

namespace trunkline {

int Execute(const CollectiveCommand& command) {
  // Without --scenario every key comes from a flag.
  const auto scenario =
      command.scenario.empty()
          ? ParseScenario("name: collective\n", "command line", command.flags.assignments)
          : ReadScenario(command.scenario, command.flags.assignments);
  return RunAndReport(scenario, command.flags, RenderCollectiveTable);
}

}  // namespace trunkline
