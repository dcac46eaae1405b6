#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/packet/shard.h"

// Endpoints that run ahead of the rest. Whatever touches an endpoint at one of its ports comes by
// that port's cable, in the order in which the switch at the other end sent it, or at a time that
// is known long before (EndsAhead::touched). So a packet is handled, at the time at which it comes
// in, as soon as the switch has sent it: endpoints have no arrivals among the events. A NIC that
// has more to send looks when what it sent last comes to its switch, which is before the next could
// come there. And a switch's port to an endpoint catches up before anything that the endpoint makes
// of what it sends could come back (EndsAhead::sweep).
namespace trunkline {

// The switch's port to an endpoint catches up, where it is this shard's to look at.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::CatchUpTowards(std::uint32_t link) {
  if (cables_[link ^ 1U].from_shard == id_) CatchUp(link ^ 1U);
}

// A NIC's port, or what waits for it, goes on as far as is known: to now, and through what comes.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::DriveEnd(std::uint32_t link) {
  CatchUpTowards(link);
  RunAhead(link, now_ + 1, std::min(ahead_.limit, ahead_.bounds[ahead_.host_of_link[link]]));
  const std::int64_t next = NextIn(link ^ 1U);
  if (next == kNever || next < ahead_.limit || ahead_.is_held[link] != 0) return;
  ahead_.is_held[link] = 1;
  ahead_.held.push_back(link);
}

// The port does what is due before `departures`, and whatever comes in before `arrivals` does,
// before which nothing else can.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::RunAhead(std::uint32_t link, std::int64_t departures,
                                    std::int64_t arrivals) {
  Port& port = ports_[link];
  PacketQueue& inbox = inboxes_[link ^ 1U];
  const std::int64_t now = now_;
  due_[link] = 0;
  ahead_.running = link;
  ahead_.bound = arrivals;  // may come nearer
  while (true) {
    const std::uint32_t id = inbox.head;
    const std::int64_t arrival = id == PacketPool::kNone ? kNever : packets_[id].ready;
    const bool comes = arrival < ahead_.bound;
    if (port.wake <= arrival) {  // in the order of PacketEventKind
      if (port.wake >= departures && !comes) break;
      now_ = std::exchange(port.wake, kNever);
      if (port.busy_until > now_) {
        port.wake = port.busy_until;
      } else {
        Serve(link);
      }
    } else {
      if (!comes) break;
      departures = std::max(departures, arrival + 1);
      now_ = arrival;
      inbox.head = packets_[id].next;
      Receive(link ^ 1U, id);
      ++events_;
      last_event_ = std::max(last_event_, arrival);
    }
    if (!notices_.empty()) DeliverNotices();
  }
  ahead_.bound = kNever;
  ahead_.running = kNoIndex;
  now_ = now;
  if (port.wake == kNever) return;
  if (port.wake == port.busy_until && port.to_shard == id_) {
    due_[link] = kDueInside;
  } else if (port.wake < ahead_.woken[link]) {
    ahead_.woken[link] = port.wake;
    queue_.Push(PacketEvent::Make(port.wake, PacketEventKind::kPortDone, link), 0);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::RunReadyEnds() {
  while (!ahead_.ready.empty()) {
    const std::uint32_t link = ahead_.ready.back();
    ahead_.ready.pop_back();
    DriveEnd(link);
  }
}

// A run up to `limit` begins.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::BeginAhead(std::int64_t limit) {
  ahead_.limit = limit;
  for (const std::uint32_t link : ahead_.held) {
    ahead_.is_held[link] = 0;
    ahead_.ready.push_back(link);
  }
  ahead_.held.clear();
  RunReadyEnds();
}

// Ports to endpoints send what they send before `time`.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Sweep(std::int64_t time) {
  const std::int64_t now = std::exchange(now_, time - 1);
  std::int64_t next = kNever;
  std::erase_if(due_in_zone_[0], [&](std::uint32_t link) {
    CatchUp(link);
    if ((due_[link] & kDue) == 0) {
      due_[link] = 0;
      return true;
    }
    next = std::min(next, LatestLook(link));
    return false;
  });
  ahead_.sweep = next;
  RunReadyEnds();
  now_ = now;
}

// The run is over: whatever happens before its limit has.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::EndAhead() {
  Sweep(ahead_.limit);
  const std::int64_t now = std::exchange(now_, ahead_.limit - 1);
  for (const std::vector<std::uint32_t>& links : ahead_.links_of_host) {
    for (const std::uint32_t link : links) CatchUp(link);
  }
  RunReadyEnds();
  now_ = now;
}

// When a port to an endpoint, which has more to send, has to have caught up.
template <typename Queue, bool kFused>
inline std::int64_t Shard<Queue, kFused>::LatestLook(std::uint32_t link) const {
  return ports_[link].busy_until + cables_[link].delay + cables_[link ^ 1U].delay;
}

// When something happens that is among no events.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::NextAhead() const {
  std::int64_t next = kNever;
  if (!ahead_.on) return next;
  for (const std::uint32_t link : due_in_zone_[0]) {
    if ((due_[link] & kDue) != 0) next = std::min(next, ports_[link].busy_until);
  }
  for (const auto* const links : {&ahead_.ready, &ahead_.held}) {
    for (const std::uint32_t link : *links) {
      next = std::min({next, ports_[link].wake, NextIn(link ^ 1U)});
    }
  }
  return next;
}

// An event of an endpoint, which comes to its time first; false where it is another's.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::HandleAhead(const PacketEvent& event) {
  if (event.kind() == PacketEventKind::kPost) {
    const std::int64_t after = event.time + 1;
    const auto come = [&](const std::vector<std::uint32_t>& links) {
      for (const std::uint32_t own : links) {
        CatchUpTowards(own);
        RunAhead(own, after, after);
        ahead_.ready.push_back(own);
      }
    };
    if (event.payload() == kNoIndex) {
      std::ranges::for_each(ahead_.links_of_host, come);
      ahead_.LeaveAll(after);
    } else {
      come(ahead_.links_of_host[ahead_.host_of_link[event.payload()]]);
      ahead_.Leave(event.payload(), after);
    }
    application_.OnPost(event.entity(), now());
    return true;
  }
  const bool is_done = event.kind() == PacketEventKind::kPortDone;
  if (!is_done && event.kind() != PacketEventKind::kRefresh) return false;
  const std::uint32_t link = event.entity();
  if (ports_[link].at_switch != kNoIndex) return false;
  if (is_done) {
    ahead_.woken[link] = kNever;
    DriveEnd(link);
    return true;
  }
  if (event.payload() < kExpiry) return false;
  CatchUpTowards(link);
  RunAhead(link, event.time + 1, event.time);
  ahead_.Leave(link, event.time);
  OnRefresh(link, event.payload());
  ahead_.ready.push_back(link);
  return true;
}

}  // namespace trunkline
