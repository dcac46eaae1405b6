#include "engine/analytic/costs.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace trunkline {

StepCosts::StepCosts(const EngineInput& input, FabricCosts& fabric)
    : input_(input), fabric_(fabric), ranks_of_program_(input.graph.program_count()) {
  for (std::uint32_t r = 0; r < input.graph.ranks(); ++r) {
    ranks_of_program_[input.graph.program_of(RankId(r))].push_back(RankId(r));
  }
}

std::vector<RankId> StepCosts::Congruent(RankId rank) const {
  std::vector<RankId> ranks = {rank};
  if (fabric_.alike()) return ranks;
  for (const RankId other : ranks_of_program_[input_.graph.program_of(rank)]) {
    if (other != rank) ranks.push_back(other);
  }
  return ranks;
}

const CutLoad& StepCosts::LoadOf(const std::set<std::uint32_t>& programs) {
  const auto [known, added] = loads_.try_emplace(programs);
  if (!added) return *known->second;
  std::vector<DeviceId> endpoints;
  for (const std::uint32_t program : programs) {
    const std::vector<DeviceId> more = EndpointsOf(ranks_of_program_[program]);
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

Result<FabricCosts::Group*> StepCosts::CostsOf(const std::vector<CommunicatorId>& ids) {
  const std::vector<RankId> members = input_.graph.members(ids.front());
  std::vector<char> present(input_.graph.program_count());
  for (const RankId member : members) present[input_.graph.program_of(member)] = 1;
  std::set<std::uint32_t> programs;
  for (std::uint32_t program = 0; program < present.size(); ++program) {
    if (present[program] != 0) programs.insert(programs.end(), program);
  }
  std::vector<std::vector<DeviceId>> siblings;
  for (const CommunicatorId id : std::span(ids).subspan(1)) {
    siblings.push_back(EndpointsOf(input_.graph.members(id)));
  }
  return fabric_.GroupOf(EndpointsOf(members), LoadOf(programs), std::move(siblings));
}

Result<std::uint32_t> StepCosts::Group(RankId rank, std::uint32_t role) {
  const auto next = static_cast<std::uint32_t>(groups_.size());
  const auto [known, added] = index_.try_emplace(input_.graph.communicator(rank, role), next);
  if (!added) return known->second;
  GroupCosts group;
  std::set<CommunicatorId> seen;
  std::map<std::size_t, std::vector<CommunicatorId>> of_size;
  for (const RankId other : Congruent(rank)) {
    const CommunicatorId id = input_.graph.communicator(other, role);
    if (!seen.insert(id).second) continue;
    group.ids.push_back(id);
    of_size[input_.graph.members(id).size()].push_back(id);
  }
  for (const auto& [size, ids] : of_size) {
    const auto costs = CostsOf(ids);
    if (!costs) return std::unexpected(costs.error());
    group.costs.push_back(*costs);
  }
  group.size = static_cast<std::uint32_t>(input_.graph.members(group.ids.front()).size());
  group.times.resize(input_.graph.collectives().size());
  groups_.push_back(std::move(group));
  return known->second;
}

Result<Time> StepCosts::Collective(std::uint32_t group, std::uint32_t collective) {
  std::optional<Time>& time = groups_[group].times[collective];
  if (time) return *time;
  Time slowest;
  for (FabricCosts::Group* costs : groups_[group].costs) {
    const auto found = fabric_.TimeOf(*costs, input_.graph.collectives()[collective]);
    if (!found) return std::unexpected(found.error());
    slowest = std::max(slowest, *found);
  }
  time = slowest;
  return slowest;
}

Result<Time> StepCosts::Bound(std::uint32_t group, std::uint32_t collective) const {
  Time most;
  for (const CommunicatorId id : groups_[group].ids) {
    const auto bound = fabric_.BoundOf(EndpointsOf(input_.graph.members(id)),
                                       input_.graph.collectives()[collective]);
    if (!bound) return std::unexpected(bound.error());
    most = std::max(most, *bound);
  }
  return most;
}

Result<FabricCosts::Message> StepCosts::Peer(RankId from, std::uint32_t role) {
  if (!fabric_.alike()) {
    std::vector<FabricCosts::Ends> messages;
    for (const RankId source : Congruent(from)) {
      messages.emplace_back(endpoint(source), endpoint(input_.graph.peer(source, role)));
    }
    return fabric_.SlowestOf(messages);
  }
  const RankId to = input_.graph.peer(from, role);
  return fabric_.MessageOf(endpoint(from), LoadOf({input_.graph.program_of(from)}), endpoint(to),
                           LoadOf({input_.graph.program_of(to)}));
}

}  // namespace trunkline
