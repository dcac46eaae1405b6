#include "engine/analytic/costs.h"

#include <algorithm>
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

Result<FabricCosts::Group*> StepCosts::CostsOf(CommunicatorId id) {
  const std::vector<RankId> members = input_.graph.members(id);
  std::vector<char> present(input_.graph.program_count());
  for (const RankId member : members) present[input_.graph.program_of(member)] = 1;
  std::set<std::uint32_t> programs;
  for (std::uint32_t program = 0; program < present.size(); ++program) {
    if (present[program] != 0) programs.insert(programs.end(), program);
  }
  return fabric_.GroupOf(EndpointsOf(members), LoadOf(programs));
}

Result<std::uint32_t> StepCosts::Group(RankId rank, std::uint32_t role) {
  const auto next = static_cast<std::uint32_t>(groups_.size());
  const auto [known, added] = index_.try_emplace(input_.graph.communicator(rank, role), next);
  if (!added) return known->second;
  GroupCosts group;
  std::set<CommunicatorId> seen;
  for (const RankId other : Congruent(rank)) {
    const CommunicatorId id = input_.graph.communicator(other, role);
    if (!seen.insert(id).second) continue;
    const auto costs = CostsOf(id);
    if (!costs) return std::unexpected(costs.error());
    group.ids.push_back(id);
    group.costs.push_back(*costs);
  }
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
  FabricCosts::Message slowest;
  for (const RankId source : Congruent(from)) {
    const RankId destination = input_.graph.peer(source, role);
    const auto message =
        fabric_.MessageOf(endpoint(source), LoadOf({input_.graph.program_of(source)}),
                          endpoint(destination), LoadOf({input_.graph.program_of(destination)}));
    if (!message) return std::unexpected(message.error());
    slowest = {.per_byte = std::max(slowest.per_byte, message->per_byte),
               .overhead = message->overhead,
               .latency = std::max(slowest.latency, message->latency)};
  }
  return slowest;
}

}  // namespace trunkline
