#include <optional>

#include "cli/console.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {

namespace {

// With the policy's virtual channels, where it has any, and without.
RoutingProof ProofsOf(const FabricSubject& subject) {
  RouterOptions options;
  options.policy = subject.routing;
  options.parameters = subject.routing_parameters;
  const Router router(subject.built->fabric, options);
  RoutingProof proof{.policy = options.policy,
                     .proofs = {},
                     .routes = CountRoutes(subject.built->fabric, options.policy)};
  if (UsesVirtualChannels(router, true)) proof.proofs.push_back(ProveDeadlockFree(router, true));
  if (!options.parameters.virtual_channels.value_or(false)) {
    proof.proofs.push_back(ProveDeadlockFree(router, false));
  }
  return proof;
}

int Print(const FabricCommand& command, const std::string& spec, bool weak_points) {
  const auto subject = LoadFabric(spec, command.assignments);
  if (!subject) return Refuse(subject.error());
  const FabricAnalysis analysis = Analyse(*subject->built);
  std::optional<WeakPoints> weak;
  if (weak_points) weak = FindWeakPoints(*subject->built);
  const WeakPoints* found = weak ? &*weak : nullptr;
  const RoutingProof routing = weak_points ? ProofsOf(*subject) : RoutingProof();
  const RoutingProof* proofs = weak_points ? &routing : nullptr;
  PrintResult(command.json
                  ? RenderFabricJson(*subject->built, analysis, found, nullptr, proofs)
                  : RenderFabricText(*subject->built, analysis, found, proofs, subject->radix));
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
