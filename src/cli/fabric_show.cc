#include <optional>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {

namespace {

int Print(const FabricCommand& command, const std::string& spec, bool weak_points) {
  const auto subject = LoadFabric(spec, command.assignments);
  if (!subject) {
    PrintDiagnostics(subject.error());
    return kExitUsage;
  }
  const FabricAnalysis analysis = Analyse(*subject->built);
  std::optional<WeakPoints> weak;
  if (weak_points) weak = FindWeakPoints(*subject->built);
  const WeakPoints* found = weak ? &*weak : nullptr;
  PrintResult(command.json ? RenderFabricJson(*subject->built, analysis, found)
                           : RenderFabricText(*subject->built, analysis, found));
  return kExitDone;
}

}  // namespace

int FabricShow(const FabricCommand& command, std::span<const std::string> words) {
  return Print(command, words[0], false);
}

int FabricAnalyse(const FabricCommand& command, std::span<const std::string> words) {
  return Print(command, words[0], true);
}

}  // namespace trunkline
