#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/report/planner_report.h"

namespace trunkline {
namespace {

// An amount of money: 50M, 1.5G, 800k.
Result<double> AmountOf(const std::string& flag, const std::string& text) {
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty()  ? 1
                       : unit == "k" ? 1e3
                       : unit == "M" ? 1e6
                       : unit == "G" ? 1e9
                                     : 0;
  constexpr double kMost = 1e15;  // more than all the world's money
  if (error == std::errc() && scale > 0 && amount > 0 && amount * scale <= kMost) {
    return amount * scale;
  }
  return Error("TL1002", fmt::format("{} {}: not an amount above 0 and up to 1000000G", flag, text),
               "write 800k, 50M or 1.2G, in the currency of the prices");
}

// allreduce=0.7,alltoall=0.3
Result<void> ReadMix(const std::string& text, AdviceRequest& request) {
  request.all_reduce = 0;
  request.all_to_all = 0;
  std::set<std::string> named;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    begin = comma + 1;
    const std::size_t equal = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equal);
    const std::string value = part.substr(std::min(equal + 1, part.size()));
    double weight = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), weight);
    const bool number =
        error == std::errc() && end == value.data() + value.size() && weight >= 0 && weight <= 1e6;
    double* out = name == "allreduce"  ? &request.all_reduce
                  : name == "alltoall" ? &request.all_to_all
                                       : nullptr;
    if (out == nullptr || !number) {
      return Error("TL1002", fmt::format("--mix: '{}' is no weight of a collective", part),
                   "write --mix allreduce=0.7,alltoall=0.3");
    }
    if (!named.insert(name).second) {
      return Error("TL1002", fmt::format("--mix: {} has two weights", name), "give it one");
    }
    *out = weight;
  }
  return {};
}

Result<AdviceRequest> ReadRequest(const FabricCommand& command) {
  AdviceRequest request;
  auto prices = FindPriceList(OptionOr(command, "--prices", kDefaultPrices));
  if (!prices) return std::unexpected(prices.error());
  request.trial.prices = *std::move(prices);
  if (!command.options.contains("--gpus")) {
    return Error("TL1002", "nothing says how many GPUs are to be joined", "add --gpus 2048");
  }
  const auto gpus = CountOption(command, "--gpus", "");
  if (!gpus) return std::unexpected(gpus.error());
  request.gpus = *gpus;
  const auto radix = CountOption(command, "--radix", "64");
  if (!radix) return std::unexpected(radix.error());
  request.radix = *radix;
  request.node = OptionOr(command, "--node", "dgx-h100");
  if (command.options.contains("--budget")) {
    const auto budget = AmountOf("--budget", command.options.at("--budget"));
    if (!budget) return std::unexpected(budget.error());
    request.budget = *budget;
  }
  if (command.options.contains("--mix")) {
    if (auto mix = ReadMix(command.options.at("--mix"), request); !mix) {
      return std::unexpected(mix.error());
    }
  }
  return request;
}

}  // namespace

int FabricAdvise(const FabricCommand& command, std::span<const std::string>) {
  auto request = ReadRequest(command);
  if (!request) return Refuse(request.error());
  std::optional<Scenario> step;
  if (command.options.contains("--scenario")) {
    auto scenario = ReadScenario(command.options.at("--scenario"), command.assignments);
    if (!scenario) return Refuse(scenario.error());
    step = *std::move(scenario);
    request->trial.step = &*step;
  }
  ConsoleProgress progress(command.quiet);
  request->trial.progress = &progress;
  request->trial.stop = &StopOnSignals();
  const auto advice = AdviseFabric(*request);
  if (!advice) return Refuse(advice.error());
  if (advice->stopped) {
    PrintNote(kInterruptedNote);
    return kExitInterrupted;
  }
  PrintResult(command.json ? RenderAdviceJson(*request, *advice)
                           : RenderAdviceText(*request, *advice));
  const bool any = std::ranges::any_of(advice->candidates, [](const Candidate& candidate) {
    return candidate.slowdown && candidate.within_budget;
  });
  return any ? kExitDone : kExitInfeasible;
}

}  // namespace trunkline
