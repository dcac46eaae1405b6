#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "fabric/routing/escape_routes.h"
#include "fabric/routing/group_routes.h"
#include "fabric/routing/policy.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Why paths of a rule do not exist in a fabric; empty where they do.
std::string Objection(const Fabric& fabric, PathRule rule) {
  switch (rule) {
    case PathRule::kFewestHops:
    case PathRule::kUpDown:
      return "";
    case PathRule::kDimensionOrder:
      return fabric.torus().empty() ? "goes dimension by dimension, and this fabric is no torus"
                                    : "";
    case PathRule::kGroups:
      return HasGroups(fabric) ? ""
                               : "goes from group to group, and this fabric is no dragonfly with "
                                 "every NIC on one router";
  }
  return "";
}

}  // namespace

Diagnostics CheckRouting(const Fabric& fabric, RoutingPolicy policy) {
  const std::string objection = Objection(fabric, TraitsOf(policy).paths);
  if (objection.empty()) return {};
  std::vector<std::string> others;
  for (const RoutingPolicyInfo& info : RoutingPolicies()) {
    if (Objection(fabric, TraitsOf(info.policy).paths).empty()) others.push_back(info.name);
  }
  return Error("TL1413", fmt::format("{} routing {}", ToString(policy), objection),
               fmt::format("routing: {}", fmt::join(others, ", ")))
      .error();
}

std::uint32_t VirtualChannels(const Fabric& fabric, RoutingPolicy policy,
                              const RoutingParameters& parameters, bool cables_fail) {
  const RoutingPolicyTraits& traits = TraitsOf(policy);
  if (traits.paths == PathRule::kDimensionOrder) return 2;  // before and behind the dateline
  if (policy == RoutingPolicy::kAdaptive) {
    // Shortest paths of a torus close rings; elsewhere it is for the user to say.
    const bool escapes = parameters.virtual_channels.value_or(!fabric.torus().empty());
    return escapes ? 1 + EscapeChannels(fabric) : 1;
  }
  if (traits.paths != PathRule::kGroups) return 1;
  // One more for each cable between groups, for a router in between, and for a change of mind after
  // a local cable.
  const std::uint32_t router = parameters.via_router ? 1 : 0;
  switch (traits.detours) {
    case DetourRule::kNever:
      // Minimal paths pass a third group where no cable joins two.
      return cables_fail || !AllGroupsAreJoined(fabric) ? 3 : 2;
    case DetourRule::kAlways:
    case DetourRule::kAtSource:
      return 3 + router;
    case DetourRule::kInSourceGroup:
      return 4 + router;
  }
  return 1;
}

}  // namespace trunkline
