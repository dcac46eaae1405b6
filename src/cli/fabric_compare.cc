#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/report/planner_report.h"

namespace trunkline {

int FabricCompare(const FabricCommand& command, std::span<const std::string> words) {
  auto prices = FindPriceList(OptionOr(command, "--prices", kDefaultPrices));
  if (!prices) return Refuse(prices.error());
  ConsoleProgress progress(command.quiet);
  TrialOptions options;
  options.prices = *std::move(prices);
  options.progress = &progress;
  options.stop = &StopOnSignals();
  std::vector<FabricTrial> trials;
  for (const std::string& spec : words) {
    const auto subject = LoadFabric(spec, command.assignments);
    if (!subject) return Refuse(subject.error());
    trials.push_back(TryFabric(spec, subject->built, subject->routing, options));
    if (trials.back().stopped) {
      PrintNote(kInterruptedNote);
      return kExitInterrupted;
    }
  }
  PrintResult(command.json ? RenderComparisonJson(trials) : RenderComparisonText(trials));
  return kExitDone;
}

}  // namespace trunkline
