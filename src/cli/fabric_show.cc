#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {

int FabricShow(const FabricCommand& command, std::span<const std::string> words) {
  const auto subject = LoadFabric(words[0], command.assignments);
  if (!subject) {
    PrintDiagnostics(subject.error());
    return kExitUsage;
  }
  const FabricAnalysis analysis = Analyse(*subject->built);
  PrintResult(command.json ? RenderFabricJson(*subject->built, analysis)
                           : RenderFabricText(*subject->built, analysis));
  return kExitDone;
}

}  // namespace trunkline
