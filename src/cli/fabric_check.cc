#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/report/check_report.h"

namespace trunkline {
namespace {

// Beyond, an AllToAll without symmetry is more flows than a check should take the time for.
constexpr std::size_t kMostTimedRanks = 1024;

int Refuse(const Diagnostics& diagnostics) {
  PrintDiagnostics(diagnostics);
  return kExitUsage;
}

Result<CheckCost> TimeBoth(const FabricSubject& subject, const FabricCheck& check,
                           const FabricCommand& command, const StopToken& stop) {
  ConsoleProgress progress(command.quiet);
  const auto found = TimeCollectives(subject.built, subject.routing, &progress, &stop);
  if (!found) return std::unexpected(found.error());
  auto mended = std::make_shared<BuiltFabric>(*subject.built);
  mended->fabric = check.mended;
  mended->bisection.reset();
  const auto as_expected = TimeCollectives(std::move(mended), subject.routing, &progress, &stop);
  if (!as_expected) {
    Diagnostics why = as_expected.error();
    for (Diagnostic& one : why) one.message = "in the fabric as it should be: " + one.message;
    return std::unexpected(std::move(why));
  }
  return CheckCost{*found, *as_expected};
}

}  // namespace

int FabricCheckVerb(const FabricCommand& command, std::span<const std::string> words) {
  const StopToken& stop = StopOnSignals();
  const auto subject = LoadFabric(words[0], command.assignments);
  if (!subject) return Refuse(subject.error());
  std::optional<FabricSubject> expected;
  if (const std::string spec = OptionOr(command, "--expect", ""); !spec.empty()) {
    auto loaded = LoadFabric(spec, {});
    if (!loaded) return Refuse(loaded.error());
    expected = *std::move(loaded);
  }
  const Fabric& fabric = subject->built->fabric;
  const FabricCheck check = expected ? CheckFabric(fabric, subject->port_of_link,
                                                   &expected->built->fabric, expected->port_of_link)
                                     : CheckFabric(fabric, subject->port_of_link, nullptr);
  std::optional<CheckCost> cost;
  if (!check.switches.empty() && fabric.endpoints().size() <= kMostTimedRanks) {
    auto timed = TimeBoth(*subject, check, command, stop);
    if (stop.stop_requested()) {
      PrintNote(kInterruptedNote);
      return kExitInterrupted;
    }
    if (!timed) {
      PrintDiagnostics(timed.error());  // a pair that cannot be reached, say; the findings stand
    } else {
      cost = *timed;
    }
  }
  PrintResult(command.json ? RenderCheckJson(*subject->built, check, cost)
                           : RenderCheckText(*subject->built, check, cost));
  return check.findings.empty() ? kExitDone : kExitFoundFailure;
}

}  // namespace trunkline
