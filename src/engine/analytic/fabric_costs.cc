#include "engine/analytic/fabric_costs.h"

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

Result<FabricCosts::Group*> FabricCosts::GroupOf(std::vector<DeviceId> members,
                                                 const CutLoad& load) {
  std::pair key(&load, std::move(members));
  const std::scoped_lock lock(mutex_);
  auto known = groups_.find(key);
  if (known == groups_.end()) {
    auto model = GroupModel::Make(router_, transport_, cuts_, key.second, &load);
    if (!model) return std::unexpected(model.error());
    known = groups_.emplace(std::move(key), Group{std::move(*model), {}}).first;
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
  const Time step = transport_.step_latency[static_cast<std::size_t>(Protocol::kSimple)]
                                           [static_cast<std::size_t>(hop_class)];
  const RouteCost cost = CostOf(*route, hop_class, transport_);
  const Message message{.per_byte = 1 / std::min(rate, cost.limit.bytes_per_second()),
                        .overhead = transport_.message_overhead,
                        .latency = cost.latency + step};
  return messages_.emplace(pair, message).first->second;
}

}  // namespace trunkline
