#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {

int FabricPath(const FabricCommand& command, std::span<const std::string> words) {
  const auto subject = LoadFabric(words[0], command.assignments);
  if (!subject) return Refuse(subject.error());
  const auto paths = ComparePaths(subject->built->fabric, subject->routing, words[1], words[2],
                                  subject->routing_parameters);
  if (!paths) return Refuse(paths.error());
  PrintResult(command.json ? RenderPathJson(*paths) : RenderPathText(*paths));
  return kExitDone;
}

}  // namespace trunkline
