#include "engine/analytic/costs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Of graphs of one layout in one placement. Others differ but for one case in 2^64.
std::uint64_t NumberOf(const std::string& layout, const EngineInput& input) {
  std::uint64_t number = std::hash<std::string>()(layout);
  for (std::uint32_t r = 0; r < input.graph.ranks(); ++r) {
    number = HashCombine(number, Index(input.placement.endpoint(RankId(r))));
  }
  return number;
}

}  // namespace

StepCosts::StepCosts(const EngineInput& input, FabricCosts& fabric)
    : input_(input),
      fabric_(fabric),
      ranks_of_program_(input.graph.program_count()),
      load_of_program_(input.graph.program_count()) {
  for (std::uint32_t r = 0; r < input.graph.ranks(); ++r) {
    ranks_of_program_[input.graph.program_of(RankId(r))].push_back(RankId(r));
  }
  if (const std::string layout = input.graph.layout(); !layout.empty() && fabric.alike()) {
    layout_ = NumberOf(layout, input);
  }
}

std::vector<CommunicatorId> StepCosts::Congruent(RankId rank, std::uint32_t role) const {
  std::vector<CommunicatorId> ids = {input_.graph.communicator(rank, role)};
  std::vector<char> seen(input_.graph.communicator_count());
  seen[Index(ids.front())] = 1;
  for (const RankId other : ranks_of_program_[input_.graph.program_of(rank)]) {
    const CommunicatorId id = input_.graph.communicator(other, role);
    if (std::exchange(seen[Index(id)], 1) == 0) ids.push_back(id);
  }
  return ids;
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

const CutLoad& StepCosts::LoadOf(std::uint32_t program) {
  const CutLoad*& load = load_of_program_[program];
  if (load == nullptr) load = &LoadOf(std::set{program});
  return *load;
}

const CutLoad& StepCosts::LoadOf(const std::vector<RankId>& members) {
  const std::uint32_t first = input_.graph.program_of(members.front());
  const bool one = std::ranges::all_of(
      members, [&](RankId member) { return input_.graph.program_of(member) == first; });
  if (one) return LoadOf(first);
  std::vector<char> present(input_.graph.program_count());
  for (const RankId member : members) present[input_.graph.program_of(member)] = 1;
  std::set<std::uint32_t> programs;
  for (std::uint32_t program = 0; program < present.size(); ++program) {
    if (present[program] != 0) programs.insert(programs.end(), program);
  }
  return LoadOf(programs);
}

// Groups that lie alike cost the same: one of each.
Result<void> StepCosts::AddByPattern(const std::vector<CommunicatorId>& ids, GroupCosts& group) {
  std::set<std::uint64_t> seen;
  for (const CommunicatorId id : ids) {
    const std::vector<RankId> members = input_.graph.members(id);
    const std::vector<DeviceId> endpoints = EndpointsOf(members);
    const CutLoad& load = LoadOf(members);
    const std::uint64_t pattern = fabric_.cuts().PatternOf(endpoints, load);
    if (!seen.insert(pattern).second) continue;
    const auto costs = fabric_.GroupOf(pattern, endpoints, load);
    if (!costs) return std::unexpected(costs.error());
    group.costs.push_back(*costs);
  }
  return {};
}

// All together, as they share links.
Result<void> StepCosts::AddBySize(const std::vector<CommunicatorId>& ids, GroupCosts& group) {
  std::map<std::size_t, std::vector<CommunicatorId>> of_size;
  for (const CommunicatorId id : ids) of_size[input_.graph.members(id).size()].push_back(id);
  for (const auto& [size, alike] : of_size) {
    std::vector<std::vector<DeviceId>> siblings;
    for (const CommunicatorId id : std::span(alike).subspan(1)) {
      siblings.push_back(EndpointsOf(input_.graph.members(id)));
    }
    const std::vector<RankId> members = input_.graph.members(alike.front());
    const auto costs = fabric_.GroupOf(EndpointsOf(members), LoadOf(members), std::move(siblings));
    if (!costs) return std::unexpected(costs.error());
    group.costs.push_back(*costs);
  }
  group.ids = ids;
  return {};
}

Result<std::uint32_t> StepCosts::Group(RankId rank, std::uint32_t role) {
  const auto next = static_cast<std::uint32_t>(groups_.size());
  const auto [known, added] = index_.try_emplace(input_.graph.communicator(rank, role), next);
  if (!added) return known->second;
  GroupCosts group;
  group.ids = {known->first};
  std::optional<std::vector<FabricCosts::Group*>> kept;
  if (layout_ != 0) kept = fabric_.of_layouts().groups.Find({layout_, known->first});
  if (kept) {
    group.costs = *std::move(kept);
  } else {
    const std::vector<CommunicatorId> ids = Congruent(rank, role);
    const auto done = fabric_.alike() ? AddByPattern(ids, group) : AddBySize(ids, group);
    if (!done) return std::unexpected(done.error());
    if (layout_ != 0) fabric_.of_layouts().groups.Keep({layout_, known->first}, group.costs);
  }
  group.size = static_cast<std::uint32_t>(input_.graph.members(known->first).size());
  group.times.resize(input_.graph.collectives().size());
  groups_.push_back(std::move(group));
  return known->second;
}

Result<Time> StepCosts::Collective(std::uint32_t group, std::uint32_t collective) {
  std::optional<Time>& time = groups_[group].times[collective];
  if (time) return *time;
  const auto slowest = fabric_.TimeOf(groups_[group].costs, input_.graph.collectives()[collective]);
  if (!slowest) return std::unexpected(slowest.error());
  most_unlike_ = std::max(most_unlike_, slowest->unlike);
  time = slowest->time;
  return *time;
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
  if (fabric_.alike()) return PeerOfLayout(from, role);
  std::vector<FabricCosts::Ends> messages;
  for (const RankId source : ranks_of_program_[input_.graph.program_of(from)]) {
    messages.emplace_back(endpoint(source), endpoint(input_.graph.peer(source, role)));
  }
  return fabric_.SlowestOf(messages);
}

Result<FabricCosts::Message> StepCosts::PeerOfLayout(RankId from, std::uint32_t role) {
  if (layout_ == 0) return SlowestByPattern(from, role);
  auto& messages = fabric_.of_layouts().messages;
  if (const auto known = messages.Find({layout_, from, role})) return *known;
  auto slowest = SlowestByPattern(from, role);
  if (slowest) messages.Keep({layout_, from, role}, *slowest);
  return slowest;
}

// Of the messages between two nodes one where all fare alike, and of those as far apart the one
// with the least room.
Result<FabricCosts::Message> StepCosts::SlowestByPattern(RankId from, std::uint32_t role) {
  const FabricCuts& cuts = fabric_.cuts();
  const CutLoad& senders = LoadOf(input_.graph.program_of(from));
  FabricCosts::Message slowest;
  std::map<std::size_t, double> least;  // by levels between
  const auto node = [&](DeviceId id) { return input_.router.fabric().device(id).node; };
  std::pair last(Device::kNoNode, Device::kNoNode);
  for (const RankId source : ranks_of_program_[input_.graph.program_of(from)]) {
    const RankId peer = input_.graph.peer(source, role);
    const FabricCosts::Ends ends(endpoint(source), endpoint(peer));
    const std::pair nodes(node(ends.first), node(ends.second));
    // Where all NICs have as many ranks, those of one node fare alike.
    const bool alike = std::exchange(last, nodes) == nodes && senders.evenness != 0;
    if (alike && nodes.first != Device::kNoNode) continue;
    const CutLoad& receivers = LoadOf(input_.graph.program_of(peer));
    const double rate = cuts.FairRate(ends.first, senders, ends.second, receivers);
    const auto [known, added] =
        least.try_emplace(cuts.LevelsBetween(ends.first, ends.second), rate);
    if (!added && rate >= known->second) continue;
    known->second = rate;
    const auto message = fabric_.MessageOf(ends.first, senders, ends.second, receivers);
    if (!message) return std::unexpected(message.error());
    slowest = {.per_byte = std::max(slowest.per_byte, message->per_byte),
               .overhead = message->overhead,
               .latency = std::max(slowest.latency, message->latency)};
  }
  return slowest;
}

}  // namespace trunkline
