#pragma once

#include <algorithm>

#include "engine/packet/shard.h"
#include "trunkline/base/random.h"

// Routes that change a packet's virtual channel, or turn off on the way.
//
// A packet of a class moves among the class's virtual channels, which are consecutive lanes. Its
// `stage` says where it is: the channel in the low bits, and whether it is on its way to a group in
// between (`path` is the number of that group or router) or may still turn off to one. The channel
// rises by one with every cable between groups, at a router in between, and where a packet turns
// off after a local cable: a function of the kinds of its hops alone. Along a path that its sender
// chose, the channels have been worked out with the path. Under adaptive routing, channel 0 is that
// which is chosen, and the others are those of its escape (fabric/routing/escape_routes.h).
namespace trunkline {

inline constexpr std::uint8_t kStageChannel = 7;
inline constexpr std::uint8_t kStageDetour = 8;
inline constexpr std::uint8_t kStageOpen = 16;

template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Guide(Packet& packet, std::uint32_t at) {
  if (escape_ != nullptr) return GuideWithEscape(packet, at);
  return source_routed_ ? GuideByPath(packet, at) : GuideByGroups(packet, at);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::MoveTo(Packet& packet, std::uint32_t channel) {
  const std::uint32_t before = packet.stage & kStageChannel;
  packet.stage = static_cast<std::uint8_t>((packet.stage & ~kStageChannel) | channel);
  if (plant_.channels > 1) {
    packet.traffic_class = static_cast<std::uint8_t>(packet.traffic_class + channel - before);
  }
}

template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::GuideByPath(Packet& packet, std::uint32_t at) {
  const bool backward = (packet.flags & Packet::kBackward) != 0;
  const std::uint32_t link =
      packet.next != PacketPool::kNone ? packet.next : PeekNextLink(packet, at);
  const std::uint8_t channels =
      plant_.path_channels[packet.path + packet.hop - (backward ? 1U : 0U)];
  packet.hop = static_cast<std::uint8_t>(backward ? packet.hop - 1 : packet.hop + 1);
  MoveTo(packet, backward ? channels >> 4 : channels & 15U);
  return link;
}

// Adaptive channels, the first of each class, are taken only where there is room for the packet,
// which is then its own; else it waits for its escape channel, and acknowledgements know no other.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::GuideWithEscape(Packet& packet, std::uint32_t at) {
  const Home& to = (*destinations_)[packet.queue_pair].Of(packet);
  packet.stage = static_cast<std::uint8_t>(packet.stage & ~Packet::kClaimed);
  if (to.group == kNoIndex) return kNoIndex;
  const std::uint32_t before = packet.stage & kStageChannel;
  const bool data = packet.traffic_class < control_;
  const auto ports = port_table_->Ports(at, to.group);
  if (ports.empty()) {
    MoveTo(packet, 0);
    return HomeLink(to, at);
  }
  const std::uint32_t first = data ? 1 : 0;  // of the escape channels
  const bool escaped = ports_[packet.ingress].at_switch != kNoIndex && before >= first;
  if (data && (!escaped || escape_->is_minimal())) {
    MoveTo(packet, 0);
    const std::uint32_t link = ClaimPort(packet, ports, at);
    if (link != kNoIndex) return link;
  }
  const std::uint32_t link = escape_->Link(at, to.group);
  const std::uint32_t channel =
      escaped
          ? escape_->ChannelBehind(packet.ingress, static_cast<std::uint8_t>(before - first), link)
          : 0;
  MoveTo(packet, first + channel);
  return link;
}

// Of the ports with room for the packet behind them, that which adaptive routing likes best; the
// room is the packet's from then on. kNoIndex: there is none.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::ClaimPort(Packet& packet, std::span<const std::uint32_t> ports,
                                              std::uint32_t at) {
  const std::uint32_t wanted = Credits(packet.wire);
  const auto first = static_cast<std::uint32_t>(
      (std::uint64_t{packet.path * switches_[at].multiplier} * ports.size()) >> 32);
  std::uint32_t best = kNoIndex;
  std::int64_t least = INT64_MAX;
  for (std::uint32_t i = 0; i < ports.size(); ++i) {
    const std::uint32_t link = ports[(first + i) % ports.size()];
    CatchUp(link);
    Lane& lane = plant_.lanes[QueueOf(link, packet.traffic_class)];
    lane.Count(now_);
    if (lane.available < wanted) continue;
    const std::int64_t queued = Reluctance(ports_[link]);
    if (plant_.IsDown(ports_[link]) || queued >= least) continue;
    least = queued;
    best = link;
  }
  if (best == kNoIndex) return best;
  plant_.lanes[QueueOf(best, packet.traffic_class)].available -= wanted;
  packet.stage |= Packet::kClaimed;
  return best;
}

template <typename Queue, bool kFused>
GroupRoutes::Goal Shard<Queue, kFused>::GoalOf(std::uint32_t index) const {
  return plant_.routing.via_router ? groups_->ToSwitch(index) : GroupRoutes::Goal{.group = index};
}

template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::GuideByGroups(Packet& packet, std::uint32_t at) {
  const Home& to = (*destinations_)[packet.queue_pair].Of(packet);
  const bool backward = (packet.flags & Packet::kBackward) != 0;
  if (to.group == kNoIndex) return kNoIndex;
  const std::uint32_t home_link = to.last_link;
  const std::uint32_t last = ports_[home_link].at_switch;
  const GroupRoutes::Goal home = groups_->ToSwitch(last);
  std::uint32_t channel = packet.stage & kStageChannel;
  const std::uint32_t from = ports_[packet.ingress].at_switch;
  const bool crossed = from != kNoIndex && groups_->group(from) != groups_->group(at);
  if (crossed) {
    ++channel;
    packet.stage = static_cast<std::uint8_t>(packet.stage & ~kStageOpen);
  } else if (from == kNoIndex && !backward) {
    packet.stage |= kStageOpen;
  }
  if ((packet.stage & kStageDetour) != 0 && groups_->Reached(at, GoalOf(packet.path))) {
    packet.stage = static_cast<std::uint8_t>(packet.stage & ~kStageDetour);
    if (!crossed) ++channel;
  }
  if (at == last) {
    MoveTo(packet, channel);
    return home_link;
  }
  if ((packet.stage & kStageOpen) != 0 && TurnsOff(packet, at, home) && from != kNoIndex) {
    ++channel;
  }
  MoveTo(packet, channel);
  const bool detour = (packet.stage & kStageDetour) != 0;
  return LeastQueued(at, detour ? GoalOf(packet.path) : home, packet.psn).link;
}

// Whether a packet that may turn off does so here.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::TurnsOff(Packet& packet, std::uint32_t at,
                                    const GroupRoutes::Goal& home) {
  const bool progressive =
      plant_.policy == RoutingPolicy::kPar || plant_.policy == RoutingPolicy::kDragonflyPlus;
  if (!progressive) packet.stage = static_cast<std::uint8_t>(packet.stage & ~kStageOpen);
  if (plant_.policy == RoutingPolicy::kMinimal) return false;
  const std::uint32_t goals =
      plant_.routing.via_router ? groups_->switch_count() : groups_->group_count();
  const std::uint64_t draw = Draw(plant_.seed, packet.path, at);
  const auto index = static_cast<std::uint32_t>(Below(draw, goals));
  const GroupRoutes::Goal via = GoalOf(index);
  if (!groups_->IsDetour(at, via, home)) return false;
  if (plant_.policy != RoutingPolicy::kValiant && !PrefersDetour(at, via, home)) return false;
  packet.path = index;
  packet.stage = static_cast<std::uint8_t>((packet.stage & ~kStageOpen) | kStageDetour);
  return true;
}

template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::PrefersDetour(std::uint32_t at, const GroupRoutes::Goal& via,
                                         const GroupRoutes::Goal& home) {
  if (groups_->Hops(at, home) >= GroupRoutes::kUnreachable) return true;
  const std::int64_t threshold = plant_.routing.threshold.count();
  if (plant_.policy == RoutingPolicy::kUgalG) {
    return NewsOfGateways(at, home) * groups_->Hops(at, home) >
           NewsOfGateways(at, via) * groups_->HopsBy(at, via, home) + threshold;
  }
  const std::int64_t minimal = LeastQueued(at, home, 0).queued;
  if (plant_.policy == RoutingPolicy::kDragonflyPlus) {
    return minimal > threshold && LeastQueued(at, via, 0).queued < minimal;
  }
  return minimal * groups_->Hops(at, home) >
         LeastQueued(at, via, 0).queued * groups_->HopsBy(at, via, home) + threshold;
}

// Of the links by which a shortest way to `goal` begins, the one with the shortest queue; `turn`
// says where among equals to begin.
template <typename Queue, bool kFused>
typename Shard<Queue, kFused>::Choice Shard<Queue, kFused>::LeastQueued(
    std::uint32_t at, const GroupRoutes::Goal& goal, std::uint32_t turn) {
  Choice best;
  std::uint32_t equals = 0;
  groups_->ForEachNext(at, goal, [&](LinkId id) {
    const auto link = static_cast<std::uint32_t>(Index(id));
    CatchUp(link);
    const std::int64_t queued = ports_[link].queued_bytes;
    if (queued > best.queued) return;
    equals = queued < best.queued ? 1 : equals + 1;
    // The n-th of equals replaces those before it for one in n turns.
    if (equals == 1 || Mix64(turn) % equals == 0) best = {link, queued};
  });
  return best;
}

// The shortest of the queues of cables from here to the group of `goal`, as every router knows it.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::NewsOfGateways(std::uint32_t at,
                                                  const GroupRoutes::Goal& goal) const {
  const auto& queued = plant_.news.queued[news_];
  std::int64_t least = INT64_MAX >> 8;
  groups_->ForEachGateway(groups_->group(at), goal.group, [&](const GroupRoutes::Gateway& gate) {
    least = std::min<std::int64_t>(least, queued[plant_.news.place[Index(gate.link)]]);
  });
  return least;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Publish(Time now, std::uint32_t write, std::uint32_t read) {
  QueueNews& news = plant_.news;
  const std::int64_t before = std::exchange(now_, now.ps() - 1);
  for (std::uint32_t place = 0; place < news.watched.size(); ++place) {
    const std::uint32_t link = news.watched[place];
    if (cables_[link].from_shard != id_) continue;
    CatchUp(link);
    news.queued[write][place] = ports_[link].queued_bytes;
  }
  now_ = before;
  news_ = read;
}

}  // namespace trunkline
