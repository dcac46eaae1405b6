#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

int Write(const FabricCommand& command, const std::string& spec, const std::string& format) {
  if (command.json) {
    PrintDiagnostics(Error("TL1002", "--json: what is written is a file of cables, in no JSON",
                           "leave --json out; trunkline fabric show SPEC --json is what there is")
                         .error());
    return kExitUsage;
  }
  const auto subject = LoadFabric(spec, command.assignments);
  const auto text = subject ? ExportFabric(subject->built->fabric, format)
                            : Result<std::string>(std::unexpected(subject.error()));
  if (!text) return Refuse(text.error());
  for (const std::string& note : subject->built->notes) PrintNote("note: " + note);
  PrintResult(*text);
  return kExitDone;
}

}  // namespace

int FabricExport(const FabricCommand& command, std::span<const std::string> words) {
  return Write(command, words[0], OptionOr(command, "--format", "csv"));
}

// What was understood of a file, in the format that says all of it.
int FabricImport(const FabricCommand& command, std::span<const std::string> words) {
  return Write(command, words[0], "csv");
}

}  // namespace trunkline
