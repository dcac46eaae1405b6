#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/cost.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {

int FabricBill(const FabricCommand& command, std::span<const std::string> words) {
  const auto prices = FindPriceList(OptionOr(command, "--prices", kDefaultPrices));
  if (!prices) {
    PrintDiagnostics(prices.error());
    return kExitUsage;
  }
  const auto subject = LoadFabric(words[0], command.assignments);
  if (!subject) {
    PrintDiagnostics(subject.error());
    return kExitUsage;
  }
  const BuiltFabric& built = *subject->built;
  const Bisection bisection = built.bisection ? *built.bisection : BoundBisection(built.fabric);
  const FabricCost cost = CostFabric(built, *prices, bisection.lower);
  PrintResult(command.json ? RenderFabricJson(built, Analyse(built), nullptr, &cost)
                           : RenderCostText(built, cost));
  return kExitDone;
}

}  // namespace trunkline
