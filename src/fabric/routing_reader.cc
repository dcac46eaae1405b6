#include "fabric/routing_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trunkline {
namespace {

void ReadKey(const YamlValue& value, const std::string& key, RoutingParameters& parameters) {
  if (key == "seed_per_switch") {
    value.Read(parameters.seed_per_switch);
  } else if (key == "flowlet_gap") {
    value.Read(parameters.flowlet_gap);
  } else if (key == "style") {
    static const Words<AdaptiveStyle> kStyles = {{"infiniband", AdaptiveStyle::kInfiniband},
                                                 {"ethernet", AdaptiveStyle::kEthernet}};
    value.Read(parameters.style, kStyles);
  } else if (key == "intermediate") {
    static const Words<bool> kGoals = {{"group", false}, {"router", true}};
    value.Read(parameters.via_router, kGoals);
  } else if (key == "threshold") {
    value.Read(parameters.threshold, Bytes(0));
  } else if (key == "virtual_channels") {
    bool wanted = true;
    if (value.Read(wanted)) parameters.virtual_channels = wanted;
  }
}

}  // namespace

void ReadRouting(const YamlValue& value, FabricSpec& spec) {
  const std::vector<RoutingPolicyInfo> known = RoutingPolicies();
  Words<RoutingPolicy> names;
  for (const RoutingPolicyInfo& info : known) names.emplace_back(info.name, info.policy);
  RoutingPolicy policy{};
  if (!value.is_map()) {
    if (value.Read(policy, names)) spec.routing = policy;
    return;
  }
  const YamlMap map = *value.AsMap();
  if (!map.Require("policy", policy, names)) {
    for (const RoutingPolicyInfo& info : known) {
      for (const std::string& key : info.keys) (void)map.Find(key);  // the policy is the error
    }
    return;
  }
  spec.routing = policy;
  const auto chosen = std::ranges::find(known, policy, &RoutingPolicyInfo::policy);
  for (const std::string& key : chosen->keys) {
    if (const auto given = map.Find(key)) ReadKey(*given, key, spec.routing_parameters);
  }
  std::set<std::string> seen(chosen->keys.begin(), chosen->keys.end());
  for (const RoutingPolicyInfo& other : known) {
    for (const std::string& key : other.keys) {
      if (!seen.insert(key).second) continue;
      map.Refuse(key, "TL1415", fmt::format("{} routing does not read '{}'", chosen->name, key),
                 chosen->keys.empty() ? fmt::format("{} does", other.name)
                                      : fmt::format("it reads {}", fmt::join(chosen->keys, ", ")));
    }
  }
}

}  // namespace trunkline
