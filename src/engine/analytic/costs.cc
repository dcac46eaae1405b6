#include "engine/analytic/costs.h"

#include <utility>

#include "engine/analytic/closed_forms.h"
#include "engine/bounds.h"
#include "engine/hop_class.h"

namespace trunkline {

StepCosts::StepCosts(const EngineInput& input, const FabricCuts& cuts)
    : input_(input), cuts_(cuts), endpoints_of_program_(input.graph.program_count()) {
  for (std::uint32_t r = 0; r < input.graph.ranks(); ++r) {
    endpoints_of_program_[input.graph.program_of(RankId(r))].push_back(endpoint(RankId(r)));
  }
}

const CutLoad& StepCosts::LoadOf(const std::set<std::uint32_t>& programs) {
  const auto [known, added] = loads_.try_emplace(programs);
  if (!added) return known->second;
  std::vector<DeviceId> endpoints;
  for (const std::uint32_t program : programs) {
    const std::vector<DeviceId>& more = endpoints_of_program_[program];
    endpoints.insert(endpoints.end(), more.begin(), more.end());
  }
  known->second = cuts_.LoadOf(endpoints);
  return known->second;
}

Result<std::uint32_t> StepCosts::Group(CommunicatorId id) {
  const auto [known, added] = index_.try_emplace(id, static_cast<std::uint32_t>(groups_.size()));
  if (!added) return known->second;
  std::vector<RankId> members = input_.graph.members(id);
  std::vector<DeviceId> endpoints;
  std::set<std::uint32_t> programs;
  for (const RankId member : members) {
    endpoints.push_back(endpoint(member));
    programs.insert(input_.graph.program_of(member));
  }
  auto model = GroupModel::Make(input_.router, input_.transport, cuts_, std::move(endpoints),
                                &LoadOf(programs));
  if (!model) return std::unexpected(model.error());
  groups_.push_back({.members = std::move(members),
                     .model = std::move(*model),
                     .times = std::vector<std::optional<Time>>(input_.graph.collectives().size())});
  return known->second;
}

Result<Time> StepCosts::Collective(std::uint32_t group, std::uint32_t collective) {
  std::optional<Time>& time = groups_[group].times[collective];
  if (!time) {
    const auto found = CollectiveTime(groups_[group].model, input_.graph.collectives()[collective]);
    if (!found) return std::unexpected(found.error());
    time = *found;
  }
  return *time;
}

Result<Time> StepCosts::Bound(std::uint32_t group, std::uint32_t collective) {
  std::vector<DeviceId> endpoints;
  for (const RankId member : members(group)) endpoints.push_back(endpoint(member));
  const auto partitions = cuts_.PartitionsOf(endpoints);
  if (!partitions) return std::unexpected(partitions.error());
  return LowerBoundOver(*partitions, input_.transport, input_.graph.collectives()[collective],
                        static_cast<std::uint32_t>(endpoints.size()));
}

Result<StepCosts::Message> StepCosts::Peer(RankId from, RankId to) {
  const auto route = input_.router.FindRoute(endpoint(from), endpoint(to), 0);
  if (!route) return std::unexpected(route.error());
  const auto rate = cuts_.FairRate(endpoint(from), LoadOf({input_.graph.program_of(from)}),
                                   endpoint(to), LoadOf({input_.graph.program_of(to)}));
  const HopClass hop_class = HopClassOf(input_.router.fabric(), *route);
  const Time step = input_.transport.step_latency[static_cast<std::size_t>(Protocol::kSimple)]
                                                 [static_cast<std::size_t>(hop_class)];
  const RouteCost cost = CostOf(*route, hop_class, input_.transport);
  return Message{.per_byte = 1 / std::min(rate, cost.limit.bytes_per_second()),
                 .overhead = input_.transport.message_overhead,
                 .latency = cost.latency + step};
}

}  // namespace trunkline
