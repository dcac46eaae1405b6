#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/run_and_report.h"
#include "trunkline/report/report.h"

namespace trunkline {

int Execute(const RunCommand& command) {
  return RunAndReport(command.scenario, command.flags, [](const RunResult& result) {
    TextOptions options;
    options.color = ColorOnStdout();
    return result.rows.empty() ? RenderText(result, options) : RenderCollectiveTable(result);
  });
}

}  // namespace trunkline
