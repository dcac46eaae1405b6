#include "scenario/deadlock_check.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/faults.h"
#include "fabric/routing/group_routes.h"
#include "trunkline/fabric/deadlock.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

std::string Lanes(const DeadlockProof& proof) {
  return proof.lanes == 1 ? "" : fmt::format(", {} virtual channels each", proof.lanes);
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

// How a proof was found, for the assumptions; nothing where no packet is handed from switch to
// switch.
std::string Describe(const DeadlockProof& proof) {
  if (proof.tiers) {
    return proof.channels == 0
               ? ""
               : fmt::format(
                     "shortest paths over the {} channels between switches go up through their "
                     "tiers, then down",
                     proof.channels);
  }
  if (proof.dependencies == 0) return "";
  return fmt::format("{} dependencies among {} channels between switches{}{}, and no cycle",
                     proof.dependencies, proof.channels, Lanes(proof),
                     proof.escape ? ", of which those of the escape reach every end" : "");
}

// `when`: of which state of the fabric, "" for the whole.
Diagnostic WarningOf(const Router& router, bool credits, const DeadlockProof& proof,
                     const std::string& when) {
  const RoutingPolicy policy = router.options().policy;
  return Warning(
      "TL1827",
      proof.verdict == DeadlockProof::Verdict::kCycle
          ? fmt::format("{} routing may deadlock{}: {}, each waits for the next", ToString(policy),
                        when, NameCycle(router.fabric(), proof))
          : fmt::format(
                "whether {} routing may deadlock{} is not known: {} of {} destinations were "
                "looked at, and no cycle was found",
                ToString(policy), when, proof.destinations, proof.all_destinations),
      Remedy(router, credits, proof));
}

// The warning of the first state of the fabric, around whose missing cables packets are rerouted,
// that is not proved; nothing where all are.
std::optional<Diagnostic> CheckOutages(const Scenario& scenario, const Router& whole,
                                       bool channels) {
  const ClusterSpec& cluster = scenario.cluster;
  if (!cluster.rerouting) return std::nullopt;
  const auto changes = ResolveFaults(whole.fabric(), cluster.timed_faults);
  if (!changes) return std::nullopt;  // refused when the scenario was read
  std::vector<Rate> rates;
  for (std::size_t i = 0; i < whole.fabric().link_count(); ++i) {
    rates.push_back(whole.fabric().link(LinkId(i)).rate);
  }
  std::optional<Diagnostic> warning;
  std::set<std::vector<bool>> known;
  ForEachOutage(whole.fabric(), *changes, [&](Time at, const std::vector<bool>& down) {
    if (warning || !known.insert(down).second) return;
    std::vector<LinkId> original;
    const Fabric fabric = RebuildFabric(whole.fabric(), down, rates, original);
    const Router router(fabric, whole.options());
    const DeadlockProof proof = ProveDeadlockFree(router, channels);
    if (proof.verdict == DeadlockProof::Verdict::kProved) return;
    warning = WarningOf(router, cluster.switches.loss_control == LossControl::kCredits, proof,
                        fmt::format(" without the cables that are down from {} on", Humanize(at)));
  });
  return warning;
}

}  // namespace

void CheckDeadlock(const Scenario& scenario, RunResult& result) {
  const LossControl control = scenario.cluster.switches.loss_control;
  if (!scenario.has_packets() || control == LossControl::kLossy) return;
  const bool credits = control == LossControl::kCredits;
  const bool channels = UsesVirtualChannels(*result.router, credits);
  const DeadlockProof proof = ProveDeadlockFree(*result.router, channels);
  if (proof.verdict != DeadlockProof::Verdict::kProved) {
    result.warnings.push_back(WarningOf(*result.router, credits, proof, ""));
    return;
  }
  if (auto warning = CheckOutages(scenario, *result.router, channels)) {
    result.warnings.push_back(*std::move(warning));
    return;
  }
  const std::string how = Describe(proof);
  if (!how.empty()) result.assumptions.push_back("deadlock: proved impossible: " + how);
}

}  // namespace trunkline
