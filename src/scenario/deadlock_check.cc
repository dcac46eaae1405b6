#include "scenario/deadlock_check.h"

#include <fmt/format.h>

#include <utility>

#include "trunkline/fabric/deadlock.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

std::string Lanes(const DeadlockProof& proof) {
  return proof.lanes == 1 ? "" : fmt::format(", {} virtual channels each", proof.lanes);
}

bool HasGroups(const Fabric& fabric) {
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).group != Device::kNoGroup) return true;
  }
  return false;
}

std::string Remedy(const Router& router, bool credits, const DeadlockProof& proof) {
  const RouterOptions& options = router.options();
  if (options.policy == RoutingPolicy::kAdaptive && credits && proof.lanes == 1) {
    return "routing: {policy: adaptive, virtual_channels: true}, which gives it an escape, or "
           "routing: up-down";
  }
  const std::uint32_t wanted = VirtualChannels(router.fabric(), options.policy, options.parameters);
  // An escape needs credits (TL1829).
  const bool changes = credits || options.policy != RoutingPolicy::kAdaptive;
  if (wanted > proof.lanes && changes) {
    return fmt::format("routing: {{policy: {}, virtual_channels: true}}, or routing: up-down",
                       ToString(options.policy));
  }
  if (!router.fabric().torus().empty()) return "routing: up-down, or dor with virtual channels";
  if (options.policy != RoutingPolicy::kMinimal && HasGroups(router.fabric())) {
    return "routing: up-down, or minimal or ugal-l with virtual channels";
  }
  return "routing: up-down";
}

}  // namespace

void CheckDeadlock(const Scenario& scenario, RunResult& result) {
  const LossControl control = scenario.cluster.switches.loss_control;
  if (!scenario.has_packets() || control == LossControl::kLossy) return;
  const RouterOptions& options = result.router->options();
  const bool channels = UsesVirtualChannels(*result.router, control == LossControl::kCredits);
  const DeadlockProof proof = ProveDeadlockFree(*result.router, channels);
  if (proof.tiers) {
    if (proof.channels == 0) return;  // no packet is handed from switch to switch
    result.assumptions.push_back(
        fmt::format("deadlock: proved impossible: shortest paths over the {} channels between "
                    "switches go up through their tiers, then down",
                    proof.channels));
    return;
  }
  if (proof.verdict == DeadlockProof::Verdict::kProved) {
    if (proof.dependencies == 0) return;  // no packet is handed from switch to switch
    result.assumptions.push_back(
        fmt::format("deadlock: proved impossible: {} dependencies among {} channels between "
                    "switches{}{}, and no cycle",
                    proof.dependencies, proof.channels, Lanes(proof),
                    proof.escape ? ", of which those of the escape reach every end" : ""));
    return;
  }
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  warning.code = "TL1827";
  warning.message =
      proof.verdict == DeadlockProof::Verdict::kCycle
          ? fmt::format("{} routing may deadlock: {}, each waits for the next",
                        ToString(options.policy), NameCycle(*result.fabric, proof))
          : fmt::format(
                "whether {} routing may deadlock is not known: {} of {} destinations were "
                "looked at, and no cycle was found",
                ToString(options.policy), proof.destinations, proof.all_destinations);
  warning.hint = Remedy(*result.router, control == LossControl::kCredits, proof);
  result.warnings.push_back(std::move(warning));
}

}  // namespace trunkline
