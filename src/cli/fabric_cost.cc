#include <fmt/format.h>

#include <optional>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "cli/output_folder.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/cost.h"
#include "trunkline/report/fabric_report.h"
#include "trunkline/report/planner_report.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

Result<std::string> Bill(const FabricCommand& command, const std::string& spec,
                         const PriceList& prices) {
  for (const char* flag : {"--out", "--scenario"}) {
    if (!command.options.contains(flag)) continue;
    return Error("TL1002", fmt::format("{} is for the curves of growth", flag),
                 "add --grow 16384, say");
  }
  const auto subject = LoadFabric(spec, command.assignments);
  if (!subject) return std::unexpected(subject.error());
  const BuiltFabric& built = *subject->built;
  if (!command.json) {
    return RenderCostText(built, CostFabric(built, prices, FindBisection(built)));
  }
  const FabricAnalysis analysis = Analyse(built);
  const FabricCost cost = CostFabric(built, prices, analysis.bisection);
  return RenderFabricJson(built, analysis, nullptr, &cost);
}

Result<void> WriteOut(const std::string& path, const Growth& growth) {
  auto folder = OutputFolder::Open(path);
  if (!folder) return std::unexpected(folder.error());
  if (auto written = folder->Write("growth.json", RenderGrowthJson(growth)); !written) {
    return written;
  }
  if (!HtmlAvailable()) {
    PrintNote("this build has no HTML report: growth.json alone is written");
    return folder->Finish();
  }
  const auto page = RenderGrowthHtml(growth);
  if (!page) return std::unexpected(page.error());
  if (auto written = folder->Write("report.html", *page); !written) return written;
  return folder->Finish();
}

Result<std::string> GrowthOf(const FabricCommand& command, const std::string& text,
                             const PriceList& prices) {
  const auto most = CountOption(command, "--grow", "");
  if (!most) return std::unexpected(most.error());
  if (!LooksLikeFabricSpec(text)) {
    return Error("TL1002", "--grow needs a fabric to build larger and larger, and this is a file",
                 "write a spec such as rail-optimized:node=dgx-h100,radix=64");
  }
  const auto spec = ParseFabricSpec(text);
  if (!spec) return std::unexpected(spec.error());
  TrialOptions options;
  options.prices = prices;
  std::optional<Scenario> step;
  if (command.options.contains("--scenario")) {
    auto scenario = ReadScenario(command.options.at("--scenario"), command.assignments);
    if (!scenario) return std::unexpected(scenario.error());
    step = *std::move(scenario);
    options.step = &*step;
  }
  const auto growth = GrowFabric(*spec, text, options, *most);
  if (!growth) return std::unexpected(growth.error());
  if (command.options.contains("--out")) {
    if (auto written = WriteOut(command.options.at("--out"), *growth); !written) {
      return std::unexpected(written.error());
    }
  }
  return command.json ? RenderGrowthJson(*growth) : RenderGrowthText(*growth);
}

}  // namespace

int FabricBill(const FabricCommand& command, std::span<const std::string> words) {
  const auto prices = FindPriceList(OptionOr(command, "--prices", kDefaultPrices));
  if (!prices) return Refuse(prices.error());
  const auto text = command.options.contains("--grow") ? GrowthOf(command, words[0], *prices)
                                                       : Bill(command, words[0], *prices);
  if (!text) return Refuse(text.error());
  PrintResult(*text);
  return kExitDone;
}

}  // namespace trunkline
