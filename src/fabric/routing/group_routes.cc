#include "fabric/routing/group_routes.h"

#include <deque>
#include <map>
#include <set>
#include <utility>

namespace trunkline {
namespace {

bool IsNetwork(const Fabric& fabric, LinkId link) {
  return fabric.link(link).kind == LinkKind::kNetwork;
}

}  // namespace

bool HasGroups(const Fabric& fabric) {
  bool any = false;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind == DeviceKind::kSwitch) {
      if (device.group == Device::kNoGroup) return false;
      any = true;
      continue;
    }
    if (!IsNetworkEnd(device.kind)) continue;
    const auto cables = std::ranges::count_if(fabric.out(DeviceId(i)),
                                              [&](LinkId link) { return IsNetwork(fabric, link); });
    if (cables > 1) return false;
  }
  return any;
}

bool AllGroupsAreJoined(const Fabric& fabric) {
  std::set<std::uint32_t> groups;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joined;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    const std::uint32_t from = fabric.device(link.from).group;
    const std::uint32_t to = fabric.device(link.to).group;
    if (from == Device::kNoGroup || to == Device::kNoGroup) continue;
    groups.insert(from);
    if (from != to) joined.emplace_back(from, to);
  }
  std::ranges::sort(joined);
  const auto repeated = std::ranges::unique(joined);
  return joined.size() - repeated.size() == groups.size() * (groups.size() - 1);
}

GroupRoutes::GroupRoutes(const Fabric& fabric, std::span<const LinkId> original)
    : switch_of_device_(fabric.device_count(), kAnySwitch) {
  std::vector<DeviceId> switches;
  std::map<std::uint32_t, std::uint32_t> number_of_group;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind != DeviceKind::kSwitch) continue;
    switch_of_device_[i] = static_cast<std::uint32_t>(switches.size());
    switches.push_back(DeviceId(i));
    number_of_group.try_emplace(device.group, 0);
  }
  for (auto& [group, number] : number_of_group) number = group_count_++;
  members_.resize(group_count_);
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    group_.push_back(number_of_group[fabric.device(switches[s]).group]);
    place_.push_back(static_cast<std::uint32_t>(members_[group_[s]].size()));
    members_[group_[s]].push_back(s);
  }
  FindGateways(fabric, switches);
  rows_.resize(switches.size());
  for (const auto& of_group : members_) SearchGroup(fabric, switches, of_group);
  ports_begin_.push_back(static_cast<std::uint32_t>(ports_.size()));
  if (original.empty()) return;
  for (LinkId& link : ports_) link = original[Index(link)];
  for (Gateway& gate : gateways_) gate.link = original[Index(gate.link)];
}

void GroupRoutes::FindGateways(const Fabric& fabric, std::span<const DeviceId> switches) {
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    for (const LinkId link : fabric.out(switches[s])) {
      const std::uint32_t to = switch_of(fabric.link(link).to);
      if (to != kAnySwitch && group_[to] != group_[s]) gateways_.push_back({s, to, link});
    }
  }
  const auto pair = [&](const Gateway& gate) {
    return std::size_t{group_[gate.from]} * group_count_ + group_[gate.to];
  };
  std::ranges::stable_sort(gateways_, {}, pair);
  gateways_begin_.resize(std::size_t{group_count_} * group_count_ + 1, 0);
  for (const Gateway& gate : gateways_) ++gateways_begin_[pair(gate) + 1];
  for (std::size_t i = 1; i < gateways_begin_.size(); ++i) {
    gateways_begin_[i] += gateways_begin_[i - 1];
  }
}

// Breadth-first searches among `members`: a row for each.
void GroupRoutes::SearchGroup(const Fabric& fabric, std::span<const DeviceId> switches,
                              std::span<const std::uint32_t> members) {
  // hops[to x members + from]: cables carry both directions, so the way out is the way back.
  std::vector<std::uint16_t> hops(members.size() * members.size(), kUnreachable);
  for (std::size_t goal = 0; goal < members.size(); ++goal) {
    const auto distance = std::span(hops).subspan(goal * members.size(), members.size());
    std::deque<std::uint32_t> open = {members[goal]};
    distance[goal] = 0;
    while (!open.empty()) {
      const std::uint32_t at = open.front();
      open.pop_front();
      for (const LinkId link : fabric.out(switches[at])) {
        const std::uint32_t to = switch_of(fabric.link(link).to);
        if (to == kAnySwitch || group_[to] != group_[at]) continue;
        if (distance[place_[to]] != kUnreachable) continue;
        distance[place_[to]] = static_cast<std::uint16_t>(distance[place_[at]] + 1);
        open.push_back(to);
      }
    }
  }
  for (const std::uint32_t at : members) {
    rows_[at] = local_hops_.size();
    for (std::size_t goal = 0; goal < members.size(); ++goal) {
      const auto distance = std::span(hops).subspan(goal * members.size(), members.size());
      local_hops_.push_back(distance[place_[at]]);
      ports_begin_.push_back(static_cast<std::uint32_t>(ports_.size()));
      if (local_hops_.back() == 0 || local_hops_.back() == kUnreachable) continue;
      for (const LinkId link : fabric.out(switches[at])) {
        const std::uint32_t to = switch_of(fabric.link(link).to);
        if (to == kAnySwitch || group_[to] != group_[at]) continue;
        if (distance[place_[to]] + 1 == local_hops_.back()) ports_.push_back(link);
      }
    }
  }
}

std::uint32_t GroupRoutes::Hops(std::uint32_t at, const Goal& goal) const {
  if (group_[at] == goal.group) return goal.at == kAnySwitch ? 0 : LocalHops(at, goal.at);
  std::uint32_t best = kUnreachable;
  ForEachGateway(group_[at], goal.group,
                 [&](const Gateway& gate) { best = std::min(best, Through(at, gate, goal)); });
  return best;
}

bool GroupRoutes::IsDetour(std::uint32_t at, const Goal& via, const Goal& home) const {
  if (group_[at] == home.group || via.group == group_[at] || via.group == home.group) return false;
  if (!AreJoined(group_[at], via.group) || !AreJoined(via.group, home.group)) return false;
  const std::uint32_t hops = Hops(at, via);
  if (hops == kUnreachable) return false;
  if (via.at != kAnySwitch) return Hops(via.at, home) < kUnreachable;
  // Wherever the way enters the group, which may have fallen apart, it must lead on.
  return std::ranges::all_of(Gateways(group_[at], via.group), [&](const Gateway& gate) {
    return Through(at, gate, via) != hops || Hops(gate.to, home) < kUnreachable;
  });
}

bool GroupRoutes::Continues(std::uint32_t at, const Link& from, LinkId to) const {
  const std::uint32_t before = switch_of(from.from);
  return std::ranges::any_of(members_[group_[at]], [&](std::uint32_t goal) {
    return goal != at && LocalHops(before, goal) == LocalHops(at, goal) + 1 &&
           std::ranges::find(LocalPorts(at, goal), to) != LocalPorts(at, goal).end();
  });
}

std::uint32_t GroupRoutes::HopsBy(std::uint32_t at, const Goal& via, const Goal& home) const {
  const std::uint32_t before = Hops(at, via);
  if (via.at != kAnySwitch) return before + Hops(via.at, home);
  // Behind the first of the gateways that such a way may take.
  for (const Gateway& gate : Gateways(group_[at], via.group)) {
    if (Through(at, gate, via) == before) return before + Hops(gate.to, home);
  }
  return kUnreachable;
}

}  // namespace trunkline
