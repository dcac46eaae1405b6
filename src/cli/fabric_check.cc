#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/report/check_report.h"

namespace trunkline {
namespace {

// Beyond, an AllToAll without symmetry is more flows than a check should take the time for.
constexpr std::size_t kMostTimedRanks = 1024;

// What the findings cost, or why that cannot be told.
std::expected<CheckCost, std::string> TimeBoth(const FabricSubject& subject,
                                               const FabricCheck& check,
                                               const FabricCommand& command,
                                               const StopToken& stop) {
  if (const std::size_t ranks = check.mended.endpoints().size(); ranks > kMostTimedRanks) {
    return std::unexpected(fmt::format("it takes an AllToAll of {} ranks, and at most {} are run",
                                       ranks, kMostTimedRanks));
  }
  const auto failed = [](const char* where, const Diagnostics& why) {
    return std::unexpected(fmt::format("in the fabric {}, {}", where, why.front().message));
  };
  ConsoleProgress progress(command.quiet);
  const auto found = TimeCollectives(subject.built, subject.routing, &progress, &stop);
  if (!found) return failed("found", found.error());
  auto mended = std::make_shared<BuiltFabric>(*subject.built);
  mended->fabric = check.mended;
  mended->bisection.reset();
  const auto as_expected = TimeCollectives(std::move(mended), subject.routing, &progress, &stop);
  if (!as_expected) return failed("as it should be", as_expected.error());
  return CheckCost{*found, *as_expected};
}

// Whether the collectives of TimeBoth() may take longer than they should.
bool CostsTime(const FabricCheck& check) {
  return !check.switches.empty() ||
         std::ranges::any_of(check.findings, [](const FabricFinding& finding) {
           return finding.kind == FabricFinding::Kind::kSlowCable ||
                  finding.kind == FabricFinding::Kind::kMissingUplinks;
         });
}

}  // namespace

int FabricCheckVerb(const FabricCommand& command, std::span<const std::string> words) {
  const StopToken& stop = StopOnSignals();
  const auto subject = LoadAllServers(words[0], command.assignments);
  if (!subject) return Refuse(subject.error());
  std::optional<FabricSubject> expected;
  if (const std::string spec = OptionOr(command, "--expect", ""); !spec.empty()) {
    auto loaded = LoadAllServers(spec, {});  // as what is found
    if (!loaded) return Refuse(loaded.error());
    expected = *std::move(loaded);
  }
  const Fabric& fabric = subject->built->fabric;
  const FabricCheck check = expected ? CheckFabric(fabric, subject->port_of_link,
                                                   &expected->built->fabric, expected->port_of_link)
                                     : CheckFabric(fabric, subject->port_of_link, nullptr);
  std::optional<CheckCost> cost;
  std::string no_cost;
  if (CostsTime(check)) {
    auto timed = TimeBoth(*subject, check, command, stop);
    if (stop.stop_requested()) {
      PrintNote(kInterruptedNote);
      return kExitInterrupted;
    }
    if (timed) {
      cost = *timed;
    } else {
      no_cost = timed.error();
    }
  }
  PrintResult(command.json ? RenderCheckJson(*subject->built, check, cost, no_cost)
                           : RenderCheckText(*subject->built, check, cost, no_cost));
  return check.findings.empty() ? kExitDone : kExitFoundFailure;
}

}  // namespace trunkline
