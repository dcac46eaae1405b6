#include <fmt/format.h>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {

int FabricCompare(const FabricCommand& command, std::span<const std::string> words) {
  std::string text =
      fmt::format("{:>8} {:>8} {:>9} {:>9} {:>8} {:>16} {:>9} {:>10}  {}\n", "nodes", "NICs",
                  "switches", "cables", "oversub", "bisection", "diameter", "mean hops", "fabric");
  std::string documents;
  for (const std::string& spec : words) {
    const auto subject = LoadFabric(spec, command.assignments);
    if (!subject) {
      PrintDiagnostics(subject.error());
      return kExitUsage;
    }
    const FabricAnalysis analysis = Analyse(*subject->built);
    std::uint64_t switches = 0;
    for (const TierSummary& tier : analysis.counts.tiers) switches += tier.switches;
    text += fmt::format("{:>8} {:>8} {:>9} {:>9} {:>8.4g} {:>16} {:>9} {:>10.4g}  {}\n",
                        analysis.counts.nodes, analysis.counts.nics, switches,
                        analysis.counts.host_cables + analysis.counts.switch_cables,
                        analysis.counts.oversubscription, Humanize(analysis.bisection.lower),
                        analysis.hops.diameter_switches, analysis.hops.mean_switches, spec);
    documents += (documents.empty() ? "" : ",\n") + RenderFabricJson(*subject->built, analysis);
  }
  PrintResult(command.json ? "{\"fabrics\": [\n" + documents + "]}\n"
                           : text + "Bisection: the lower bound. Hops count switches.\n");
  return kExitDone;
}

}  // namespace trunkline
