#include "engine/analytic/costs.h"

#include <utility>

namespace trunkline {

StepCosts::StepCosts(const EngineInput& input, FabricCosts& fabric)
    : input_(input), fabric_(fabric), endpoints_of_program_(input.graph.program_count()) {
  for (std::uint32_t r = 0; r < input.graph.ranks(); ++r) {
    endpoints_of_program_[input.graph.program_of(RankId(r))].push_back(endpoint(RankId(r)));
  }
}

const CutLoad& StepCosts::LoadOf(const std::set<std::uint32_t>& programs) {
  const auto [known, added] = loads_.try_emplace(programs);
  if (!added) return *known->second;
  std::vector<DeviceId> endpoints;
  for (const std::uint32_t program : programs) {
    const std::vector<DeviceId>& more = endpoints_of_program_[program];
    endpoints.insert(endpoints.end(), more.begin(), more.end());
  }
  known->second = &fabric_.LoadOf(std::move(endpoints));
  return *known->second;
}

std::vector<DeviceId> StepCosts::EndpointsOf(const std::vector<RankId>& ranks) const {
  std::vector<DeviceId> endpoints;
  endpoints.reserve(ranks.size());
  for (const RankId rank : ranks) endpoints.push_back(endpoint(rank));
  return endpoints;
}

Result<std::uint32_t> StepCosts::Group(CommunicatorId id) {
  const auto [known, added] = index_.try_emplace(id, static_cast<std::uint32_t>(groups_.size()));
  if (!added) return known->second;
  const std::vector<RankId> members = input_.graph.members(id);
  std::vector<char> present(input_.graph.program_count());
  for (const RankId member : members) present[input_.graph.program_of(member)] = 1;
  std::set<std::uint32_t> programs;
  for (std::uint32_t program = 0; program < present.size(); ++program) {
    if (present[program] != 0) programs.insert(programs.end(), program);
  }
  const auto costs = fabric_.GroupOf(EndpointsOf(members), LoadOf(programs));
  if (!costs) return std::unexpected(costs.error());
  groups_.push_back({.id = id,
                     .costs = *costs,
                     .times = std::vector<std::optional<Time>>(input_.graph.collectives().size())});
  return known->second;
}

Result<Time> StepCosts::Collective(std::uint32_t group, std::uint32_t collective) {
  std::optional<Time>& time = groups_[group].times[collective];
  if (!time) {
    const auto found =
        fabric_.TimeOf(*groups_[group].costs, input_.graph.collectives()[collective]);
    if (!found) return std::unexpected(found.error());
    time = *found;
  }
  return *time;
}

Result<Time> StepCosts::Bound(std::uint32_t group, std::uint32_t collective) const {
  return fabric_.BoundOf(EndpointsOf(input_.graph.members(groups_[group].id)),
                         input_.graph.collectives()[collective]);
}

Result<FabricCosts::Message> StepCosts::Peer(RankId from, RankId to) {
  return fabric_.MessageOf(endpoint(from), LoadOf({input_.graph.program_of(from)}), endpoint(to),
                           LoadOf({input_.graph.program_of(to)}));
}

}  // namespace trunkline
