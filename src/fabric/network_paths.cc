#include "fabric/network_paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {

NetworkPaths::NetworkPaths(const Fabric& fabric)
    : fabric_(&fabric),
      switch_of_device_(fabric.device_count(), kNone),
      end_of_device_(fabric.device_count(), kNone),
      set_of_single_link_(fabric.link_count(), kNone) {
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind != DeviceKind::kSwitch) continue;
    switch_of_device_[i] = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(DeviceId(i));
  }
  for (DeviceId id : switches_) {
    adjacency_begin_.push_back(static_cast<std::uint32_t>(adjacency_.size()));
    for (LinkId link : fabric.out(id)) {
      if (switch_of_device_[Index(fabric.link(link).to)] != kNone) adjacency_.push_back(link);
    }
  }
  adjacency_begin_.push_back(static_cast<std::uint32_t>(adjacency_.size()));
  wide_sets_of_switch_.resize(switches_.size());
  FindEnds();
  FindDestinations();

  distance_.assign(destinations_.size() * switches_.size(), kUnreachable);
  port_set_.assign(distance_.size(), kNone);
  std::vector<std::uint32_t> frontier;
  for (std::uint32_t d = 0; d < destinations_.size(); ++d) {
    FillDistances(d, frontier);
    FillPorts(d);
  }
}

void NetworkPaths::FindEnds() {
  for (std::size_t i = 0; i < fabric_->device_count(); ++i) {
    const DeviceKind kind = fabric_->device(DeviceId(i)).kind;
    if (kind != DeviceKind::kNic && kind != DeviceKind::kHost) continue;
    End end{.device = DeviceId(i), .links_begin = static_cast<std::uint32_t>(end_links_.size())};
    for (LinkId link : fabric_->out(DeviceId(i))) {
      if (fabric_->link(link).kind != LinkKind::kNetwork) continue;
      end_links_.push_back(link);
      end_reverse_links_.push_back(fabric_->reverse(link));
    }
    end.links_count = static_cast<std::uint32_t>(end_links_.size()) - end.links_begin;
    if (end.links_count == 0) continue;
    end.trunk_out = CommonTrunk(std::span(end_links_).subspan(end.links_begin));
    end.trunk_in = CommonTrunk(std::span(end_reverse_links_).subspan(end.links_begin));
    end_of_device_[i] = static_cast<std::uint32_t>(ends_.size());
    ends_.push_back(end);
  }
}

void NetworkPaths::FindDestinations() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (End& end : ends_) {
    std::vector<std::uint32_t> at;
    for (std::uint32_t i = 0; i < end.links_count; ++i) {
      const DeviceId to = fabric_->link(end_links_[end.links_begin + i]).to;
      if (switch_of_device_[Index(to)] != kNone) at.push_back(switch_of_device_[Index(to)]);
    }
    std::ranges::sort(at);
    at.erase(std::ranges::unique(at).begin(), at.end());
    const auto [entry, added] =
        known.try_emplace(at, static_cast<std::uint32_t>(destinations_.size()));
    if (added) destinations_.push_back(at);
    end.destination = entry->second;
  }

  // Labels: switch by switch, port by port; an end with several cables counts at its first.
  std::uint32_t next = 0;
  std::vector<bool> labelled(ends_.size(), false);
  const auto give = [&](std::uint32_t end) {
    if (!labelled[end]) ends_[end].label = next++;
    labelled[end] = true;
  };
  for (DeviceId id : switches_) {
    for (LinkId link : fabric_->out(id)) {
      const std::uint32_t end = end_of_device_[Index(fabric_->link(link).to)];
      if (end != kNone) give(end);
    }
  }
  for (std::uint32_t end = 0; end < ends_.size(); ++end) give(end);  // cabled back to back
}

void NetworkPaths::FillDistances(std::uint32_t destination, std::vector<std::uint32_t>& frontier) {
  frontier = destinations_[destination];
  for (std::uint32_t s : frontier) distance_[cell(destination, s)] = 0;
  for (std::size_t head = 0; head < frontier.size(); ++head) {
    const std::uint32_t at = frontier[head];
    const auto next = static_cast<std::uint16_t>(distance_[cell(destination, at)] + 1);
    TL_CHECK(next < kUnreachable, "a network of more than 65,534 hops");
    for (std::uint32_t i = adjacency_begin_[at]; i < adjacency_begin_[at + 1]; ++i) {
      // Cables carry both directions, so the way out is the way back.
      const std::uint32_t to = switch_of_device_[Index(fabric_->link(adjacency_[i]).to)];
      std::uint16_t& known = distance_[cell(destination, to)];
      if (known != kUnreachable) continue;
      known = next;
      frontier.push_back(to);
    }
  }
}

void NetworkPaths::FillPorts(std::uint32_t destination) {
  std::vector<LinkId> links;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const std::uint16_t here = distance_[cell(destination, s)];
    if (here == kUnreachable || here == 0) continue;
    links.clear();
    for (std::uint32_t i = adjacency_begin_[s]; i < adjacency_begin_[s + 1]; ++i) {
      const std::uint32_t to = switch_of_device_[Index(fabric_->link(adjacency_[i]).to)];
      if (distance_[cell(destination, to)] == here - 1) links.push_back(adjacency_[i]);
    }
    port_set_[cell(destination, s)] = Intern(s, links);
  }
}

std::uint32_t NetworkPaths::Intern(std::uint32_t switch_index, std::span<const LinkId> links) {
  if (links.size() == 1) {
    const std::uint32_t known = set_of_single_link_[Index(links[0])];
    if (known != kNone) return known;
  } else {
    // A switch has few distinct sets of several ports, so a scan is short.
    for (std::uint32_t set : wide_sets_of_switch_[switch_index]) {
      if (std::ranges::equal(links,
                             std::span(set_links_).subspan(sets_[set].begin, sets_[set].count))) {
        return set;
      }
    }
  }
  const auto set = static_cast<std::uint32_t>(sets_.size());
  sets_.push_back({static_cast<std::uint32_t>(set_links_.size()),
                   static_cast<std::uint32_t>(links.size()), CommonTrunk(links)});
  set_links_.insert(set_links_.end(), links.begin(), links.end());
  if (links.size() == 1) {
    set_of_single_link_[Index(links[0])] = set;
  } else {
    wide_sets_of_switch_[switch_index].push_back(set);
  }
  return set;
}

std::uint32_t NetworkPaths::CommonTrunk(std::span<const LinkId> links) const {
  if (links.empty()) return Link::kNoTrunk;
  const std::uint32_t trunk = fabric_->link(links[0]).trunk;
  const bool all =
      std::ranges::all_of(links, [&](LinkId link) { return fabric_->link(link).trunk == trunk; });
  return all ? trunk : Link::kNoTrunk;
}

std::uint16_t NetworkPaths::DistanceAfter(LinkId link, const End& dst) const {
  const DeviceId to = fabric_->link(link).to;
  if (to == dst.device) return 0;
  const std::uint32_t s = switch_of_device_[Index(to)];
  if (s == kNone) return kUnreachable;  // NICs and hosts do not forward
  const std::uint16_t distance = distance_[cell(dst.destination, s)];
  return distance == kUnreachable ? kUnreachable : static_cast<std::uint16_t>(distance + 1);
}

std::uint16_t NetworkPaths::Distance(DeviceId src, DeviceId dst) const {
  const End& from = ends_[end_of_device_[Index(src)]];
  const End& to = ends_[end_of_device_[Index(dst)]];
  std::uint16_t best = kUnreachable;
  for (std::uint32_t i = 0; i < from.links_count; ++i) {
    best = std::min(best, DistanceAfter(end_links_[from.links_begin + i], to));
  }
  return best == kUnreachable ? best : static_cast<std::uint16_t>(best + 1);
}

NetworkPaths::Ports NetworkPaths::Next(DeviceId at, DeviceId dst,
                                       std::vector<LinkId>& scratch) const {
  const End& to = ends_[end_of_device_[Index(dst)]];
  const std::uint32_t s = switch_of_device_[Index(at)];
  if (s != kNone && distance_[cell(to.destination, s)] > 0) {
    const PortSet& set = sets_[port_set_[cell(to.destination, s)]];
    return {std::span(set_links_).subspan(set.begin, set.count), set.trunk};
  }

  // The first or the last hop: the cables of one NIC or host, or those of them that qualify.
  const bool last = s != kNone;
  const End& end = last ? to : ends_[end_of_device_[Index(at)]];
  const auto all =
      std::span(last ? end_reverse_links_ : end_links_).subspan(end.links_begin, end.links_count);
  const std::uint32_t trunk = last ? end.trunk_in : end.trunk_out;
  if (all.size() == 1) return {all, trunk};
  const std::uint16_t best = last ? 0 : static_cast<std::uint16_t>(Distance(at, dst) - 1);
  scratch.clear();
  for (LinkId link : all) {
    if (last ? fabric_->link(link).from == at : DistanceAfter(link, to) == best) {
      scratch.push_back(link);
    }
  }
  return {scratch, trunk};
}

}  // namespace trunkline
