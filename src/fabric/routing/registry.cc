#include <fmt/format.h>

#include <array>
#include <utility>

#include "fabric/routing/policy.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

constexpr std::array kPolicies = {
    &kEcmpPolicy,  &kWeightedEcmpPolicy, &kFlowletPolicy, &kStaticPolicy,
    &kFtreePolicy, &kMinHopPolicy,       &kUpDownPolicy,  &kDorPolicy,
    &kSprayPolicy, &kAdaptivePolicy,     &kMinimalPolicy, &kValiantPolicy,
    &kUgalLPolicy, &kUgalGPolicy,        &kParPolicy,     &kDragonflyPlusPolicy,
};

}  // namespace

const RoutingPolicyTraits& TraitsOf(RoutingPolicy policy) {
  for (const RoutingPolicyTraits* traits : kPolicies) {
    if (traits->policy == policy) return *traits;
  }
  TL_CHECK(false, "unregistered routing policy", static_cast<int>(policy));
  std::unreachable();
}

std::vector<RoutingPolicyInfo> RoutingPolicies() {
  std::vector<RoutingPolicyInfo> known;
  for (const RoutingPolicyTraits* traits : kPolicies) {
    known.push_back({traits->policy,
                     traits->name,
                     traits->summary,
                     traits->choice,
                     {traits->keys.begin(), traits->keys.end()}});
  }
  return known;
}

Result<RoutingPolicy> ParseRoutingPolicy(std::string_view name) {
  std::vector<std::string> names;
  for (const RoutingPolicyTraits* traits : kPolicies) {
    if (name == traits->name) return traits->policy;
    names.emplace_back(traits->name);
  }
  const std::string close = ClosestMatch(name, names);
  return Error("TL1412", fmt::format("unknown routing policy '{}'", name),
               close.empty() ? fmt::format("known: {}", fmt::join(names, ", "))
                             : fmt::format("did you mean '{}'?", close));
}

const char* ToString(RoutingPolicy policy) { return TraitsOf(policy).name; }

bool JudgesByQueues(RoutingPolicy policy) {
  const DetourRule rule = TraitsOf(policy).detours;
  return rule == DetourRule::kAtSource || rule == DetourRule::kInSourceGroup;
}

PathChoice PathChoiceOf(RoutingPolicy policy) { return TraitsOf(policy).choice; }

std::uint32_t HashedPort(const PortView& view) {
  return static_cast<std::uint32_t>(Below(HashCombine(view.flow, view.hop), view.ports));
}

std::uint32_t TableEntry(const PortView& view) { return view.entry; }

double EvenShare(const Link& /*link*/) { return 1; }

Rate SumOfRates(const Fabric& fabric, std::span<const LinkId> links) {
  Rate sum;
  for (LinkId link : links) sum = sum + fabric.link(link).rate;
  return sum;
}

}  // namespace trunkline
