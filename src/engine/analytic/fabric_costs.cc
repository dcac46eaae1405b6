#include "engine/analytic/fabric_costs.h"

#include <unordered_map>

#include "engine/analytic/closed_forms.h"
#include "engine/bounds.h"
#include "engine/hop_class.h"

namespace trunkline {

const CutLoad& FabricCosts::LoadOf(std::vector<DeviceId> endpoints) {
  const std::scoped_lock lock(mutex_);
  const auto [known, added] = loads_.try_emplace(std::move(endpoints));
  if (added) known->second = cuts_.LoadOf(known->first);
  return known->second;
}

Result<FabricCosts::Group*> FabricCosts::GroupOf(std::vector<DeviceId> members, const CutLoad& load,
                                                 std::vector<std::vector<DeviceId>> siblings) {
  std::pair key(&load, Groups{std::move(members)});
  key.second.insert(key.second.end(), siblings.begin(), siblings.end());
  const std::scoped_lock lock(mutex_);
  auto known = groups_.find(key);
  if (known == groups_.end()) {
    auto model = GroupModel::Make(router_, transport_, cuts_, key.second.front(), &load,
                                  std::move(siblings));
    if (!model) return std::unexpected(model.error());
    known = groups_.emplace(std::move(key), Group{std::move(*model), {}}).first;
  }
  return &known->second;
}

Result<FabricCosts::Group*> FabricCosts::GroupOf(std::uint64_t pattern,
                                                 const std::vector<DeviceId>& members,
                                                 const CutLoad& load) {
  const std::scoped_lock lock(mutex_);
  auto known = groups_of_pattern_.find(pattern);
  if (known == groups_of_pattern_.end()) {
    auto model = GroupModel::Make(router_, transport_, cuts_, members, &load);
    if (!model) return std::unexpected(model.error());
    known = groups_of_pattern_.emplace(pattern, Group{std::move(*model), {}}).first;
  }
  return &known->second;
}

Result<Time> FabricCosts::TimeOf(Group& group, const CollectiveChoice& choice) {
  const std::scoped_lock lock(mutex_);
  const auto known =
      std::ranges::find(group.times, choice, &std::pair<CollectiveChoice, Time>::first);
  if (known != group.times.end()) return known->second;
  const auto time = CollectiveTime(group.model, choice);
  if (time) group.times.emplace_back(choice, *time);
  return time;
}

Result<FabricCosts::Slowest> FabricCosts::TimeOf(const std::vector<Group*>& groups,
                                                 const CollectiveChoice& choice) {
  Time slowest;
  Time fastest = Time::Max();
  for (Group* group : groups) {
    const auto time = TimeOf(*group, choice);
    if (!time) return std::unexpected(time.error());
    slowest = std::max(slowest, *time);
    fastest = std::min(fastest, *time);
  }
  return Slowest{slowest, fastest > Time() ? slowest.seconds() / fastest.seconds() : 1};
}

Result<Time> FabricCosts::BoundOf(const std::vector<DeviceId>& members,
                                  const CollectiveChoice& choice) const {
  const auto partitions = cuts_.PartitionsOf(members);
  if (!partitions) return std::unexpected(partitions.error());
  return LowerBoundOver(*partitions, transport_, choice,
                        static_cast<std::uint32_t>(members.size()));
}

Result<FabricCosts::Message> FabricCosts::MessageOf(DeviceId from, const CutLoad& senders,
                                                    DeviceId to, const CutLoad& receivers) {
  const std::scoped_lock lock(mutex_);
  const Pair pair(from, &senders, to, &receivers);
  if (const auto known = messages_.find(pair); known != messages_.end()) return known->second;
  const auto route = router_.FindRoute(from, to, 0);
  if (!route) return std::unexpected(route.error());
  const double rate = cuts_.FairRate(from, senders, to, receivers);
  const HopClass hop_class = HopClassOf(router_.fabric(), *route);
  const RouteCost cost = CostOf(*route, hop_class, transport_);
  const Message message{.per_byte = 1 / std::min(rate, cost.limit.bytes_per_second()),
                        .overhead = transport_.message_overhead,
                        .latency = cost.latency + StepLatency(hop_class)};
  return messages_.emplace(pair, message).first->second;
}

Result<FabricCosts::Message> FabricCosts::SlowestOf(const std::vector<Ends>& messages) const {
  std::unordered_map<ResourceId, double> load;  // wire bytes a payload byte of each message
  std::vector<Route> routes;
  for (const auto& [from, to] : messages) {
    auto route = router_.FindRoute(from, to, 0);
    if (!route) return std::unexpected(route.error());
    for (const Hop& hop : route->hops) load[hop.resource] += hop.weight;
    routes.push_back(*std::move(route));
  }
  Message slowest{.per_byte = 0, .overhead = transport_.message_overhead, .latency = {}};
  for (const Route& route : routes) {
    const HopClass hop_class = HopClassOf(router_.fabric(), route);
    const RouteCost cost = CostOf(route, hop_class, transport_);
    double rate = cost.limit.bytes_per_second();
    for (const Hop& hop : route.hops) {
      rate = std::min(rate, router_.capacity(hop.resource).bytes_per_second() / load[hop.resource]);
    }
    slowest.per_byte = std::max(slowest.per_byte, 1 / rate);
    slowest.latency = std::max(slowest.latency, cost.latency + StepLatency(hop_class));
  }
  return slowest;
}

Time FabricCosts::StepLatency(HopClass hop_class) const {
  return transport_.step_latency[static_cast<std::size_t>(Protocol::kSimple)]
                                [static_cast<std::size_t>(hop_class)];
}

}  // namespace trunkline
