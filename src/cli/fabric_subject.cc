#include <fmt/format.h>

#include <utility>

#include "cli/fabric_verbs.h"

namespace trunkline {

Result<FabricSubject> LoadFabric(const std::string& spec,
                                 const std::vector<Assignment>& assignments) {
  if (LooksLikeFabricSpec(spec)) {
    if (!assignments.empty()) {
      return Error("TL1002", "--set changes a scenario, and this is none",
                   fmt::format("write the key into the spec: {},key=value", spec));
    }
    const auto parsed = ParseFabricSpec(spec);
    if (!parsed) return std::unexpected(parsed.error());
    auto built = BuildFabric(*parsed);
    if (!built) return std::unexpected(built.error());
    return FabricSubject{std::make_shared<const BuiltFabric>(std::move(*built)),
                         parsed->routing.value_or(RoutingPolicy::kAdaptive)};
  }
  const auto scenario = ReadScenario(spec, assignments);
  if (!scenario) return std::unexpected(scenario.error());
  return FabricSubject{scenario->cluster.fabric, scenario->cluster.routing};
}

}  // namespace trunkline
