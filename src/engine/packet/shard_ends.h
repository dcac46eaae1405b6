#pragma once

#include <algorithm>
#include <utility>

#include "engine/packet/shard.h"

// Endpoints without events of their own. Where nothing that happens at one can matter to another,
// or to its switch, within a window (Zones::ends_apart), it goes through the window after the rest
// of its zone: what comes in by its only cable comes in the order of the list that it waits in, and
// its port knows when it is to look (Port::wake). Only timers are events, which an endpoint catches
// up with.
namespace trunkline {

// An endpoint's port is to look at `time`, or a packet to come in. While its zone has its turn, the
// end of that will show.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::WakeZone(std::uint32_t link, std::int64_t time) {
  if constexpr (kFused) {
    if (queue_.zone() == Queue::kEverywhere) queue_.Mark(ZoneFrom(link), time);
  }
}

// A packet is on its way to an endpoint by `link`.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::ComeTo(std::uint32_t link, std::uint32_t id) {
  PacketQueue& inbox = inboxes_[link];
  const bool first = inbox.head == PacketPool::kNone;
  packets_[first ? id : inbox.tail].next = id;
  packets_[id].next = PacketPool::kNone;
  inbox.head = first ? id : inbox.head;
  inbox.tail = id;
}

// When the next packet comes in by `link`.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::NextIn(std::uint32_t link) const {
  const std::uint32_t id = inboxes_[link].head;
  return id == PacketPool::kNone ? kNever : packets_[id].ready;
}

// The endpoint at `link` does what is due: its port before `departures`, packets that come in
// before `arrivals`.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::RunEnd(std::uint32_t link, std::int64_t departures,
                                  std::int64_t arrivals) {
  const Port& port = ports_[link];
  PacketQueue& inbox = inboxes_[link ^ 1U];
  while (true) {
    const std::int64_t arrival = NextIn(link ^ 1U);
    if (port.wake <= arrival) {  // in the order of PacketEventKind
      if (port.wake >= departures) return;
      now_ = port.wake;
      OnPortDone(link);
    } else {
      if (arrival >= arrivals) return;
      now_ = arrival;
      const std::uint32_t id = inbox.head;
      inbox.head = packets_[id].next;
      packets_.Prefetch(inbox.head);
      OnArrivalAtEnd(link ^ 1U, id);
      ++events_;
      last_event_ = std::max(last_event_, now_);
    }
    if (!notices_.empty()) DeliverNotices();
  }
}

// Fetches what the endpoints of a zone are about to touch: packets, what these lead to, and, of
// ports that are in cache already, senders.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PrefetchEnds(std::uint32_t zone) const {
  for (const std::uint32_t link : ends_in_zone_[zone]) {
    __builtin_prefetch(&plant_.nics[ports_[link].nic], 1);
    const std::uint32_t id = inboxes_[link ^ 1U].head;
    if (id == PacketPool::kNone) continue;
    PrefetchEnd(packets_[id]);
    packets_.Prefetch(packets_[id].next);
  }
}

// The endpoints of a zone go through its window.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::RunEnds(std::uint32_t zone) {
  if constexpr (kFused) {
    const std::int64_t now = now_;
    std::int64_t next = kNever;
    if (large_) {
      for (const std::uint32_t link : ends_in_zone_[zone]) PrefetchFirst(link);
    }
    for (const std::uint32_t link : ends_in_zone_[zone]) {
      RunEnd(link, queue_.until(), queue_.until());
      next = std::min({next, ports_[link].wake, NextIn(link ^ 1U)});
    }
    now_ = now;
    if (next != kNever) queue_.Mark(zone, next);
  }
}

// The endpoint that a timer, or a post, is of does what comes before it.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::CatchUpEnd(const PacketEvent& event) {
  std::uint32_t link = event.entity();
  if constexpr (kFused) {
    if (event.kind() == PacketEventKind::kPost) {
      // Everybody has come to the time of a post that may be anywhere.
      if (queue_.zone() == Queue::kEverywhere) return;
      RunEnd(event.payload(), event.time + 1, event.time + 1);
      now_ = event.time;
      return;
    }
  }
  if (event.kind() == PacketEventKind::kTimeout) {
    const bool sends = event.payload() == kSenderTimer;
    link = sends ? plant_.senders[link].link : LinkToReceiver(link) ^ 1U;
  } else if (event.kind() != PacketEventKind::kRefresh || ports_[link].at_switch != kNoIndex) {
    return;
  }
  const std::int64_t now = now_;
  RunEnd(link, now + 1, now);
  now_ = now;
}

// The last link on the way to the receiver of a queue pair.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::LinkToReceiver(std::uint32_t queue_pair) const {
  if (plant_.forwarding != Forwarding::kSource) {
    return (*destinations_)[queue_pair].receiver().last_link;
  }
  return plant_.path_links[plant_.senders[queue_pair].path + plant_.paths[queue_pair].hops - 1];
}

}  // namespace trunkline
