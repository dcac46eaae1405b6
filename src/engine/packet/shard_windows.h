#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/packet/shard.h"

// Ports that need no events of their own: they catch up with what they have sent meanwhile as
// somebody looks at them, and before anything that they have sent could arrive.
namespace trunkline {

// The zone at either end of a link.
template <typename Queue, bool kFused>
inline std::uint32_t Shard<Queue, kFused>::ZoneTo(std::uint32_t link) const {
  return zoned_ ? zones_[link] : 0;
}

template <typename Queue, bool kFused>
inline std::uint32_t Shard<Queue, kFused>::ZoneFrom(std::uint32_t link) const {
  return ZoneTo(link ^ 1U);
}

// Whether a port that has more to send needs no event for it: whatever it sent last has yet to
// arrive, and has it catch up then, well before the next could arrive. What arrives in another zone
// does so in a later window, before which the port catches up.
template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::CatchesUp(std::uint32_t link) const {
  return catches_up_[link] != 0 && !switches_[ports_[link].at_switch].exact;
}

// Has a port do what it has not been seen to do yet.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::CatchUp(std::uint32_t link) {
  // One branch, for what follows no pattern.
  const bool due = (due_[link] & kDue) != 0;
  const bool idle = ports_[link].busy_until <= now_;
  if (due & idle) SendDue(link);
}

// A port is to look at `time`.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::SetWake(std::uint32_t link, std::int64_t time) {
  Port& port = ports_[link];
  if (port.wake <= time) return;
  port.wake = time;
  if (ends_apart_ && port.nic != kNoIndex) {
    WakeZone(link, time);
  } else if (ahead_.on && port.nic != kNoIndex) {
    if (ahead_.running != link) ahead_.ready.push_back(link);
  } else {
    queue_.Push(PacketEvent::Make(time, PacketEventKind::kPortDone, link), ZoneFrom(link));
  }
}

// A port without events of its own catches up: what left since is sent at the moment it left.
// Nothing about the port has changed in the meantime, so the moments' decisions are those that an
// event at each would have taken. REQUIRES: something waits, and the port is free.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SendDue(std::uint32_t link) {
  if (calm_) {
    RunPort(link, {}, now_ + 1);
    return;
  }
  if (ahead_.on && ports_[link].nic != kNoIndex) {
    DriveEnd(link);
    return;
  }
  Port& port = ports_[link];
  const std::int64_t now = now_;
  bool more = true;
  while (more) {
    now_ = port.busy_until;
    if (!ServeQueues(link)) break;
    more = (port.waiting != 0) & (port.busy_until <= now);
  }
  now_ = now;
  if (port.waiting == 0) due_[link] &= static_cast<std::uint8_t>(~kDue);
}

// What is at the end of each link, and which ports can do without events.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::FindWays() {
  for (std::uint32_t link = 0; link < leads_to_.size(); ++link) {
    const bool stays = ports_[link].to_shard == id_;
    if (!stays) {
      leads_to_[link] = kToShard;
    } else if ((ends_apart_ || ahead_.on) && to_switch_[link] == kNoIndex) {
      leads_to_[link] = kToEnd;
    } else {
      leads_to_[link] = ZoneTo(link);
    }
    const bool needs_events =
        !kFused || !catch_up_ || ports_[link].at_switch == kNoIndex || (!zoned_ && !stays);
    const bool inside = (!zoned_ && !ahead_.on) || leads_to_[link] == ZoneFrom(link);
    catches_up_[link] = needs_events ? std::uint8_t{0} : inside ? kDueInside : kDueAcross | kListed;
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::JoinShards(std::uint16_t id, std::size_t count) {
  id_ = id;
  for (std::vector<Outbox>& side : outboxes_) side.resize(count);
  FindWays();
  for (auto* const parts : {&ends_in_zone_, &ahead_.links_of_host}) {
    for (std::vector<std::uint32_t>& ends : *parts) {
      std::erase_if(ends, [this](std::uint32_t link) { return cables_[link].from_shard != id_; });
    }
  }
}

// A port that has no event of its own has something to send.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::SetDue(std::uint32_t link) {
  const unsigned kind = catches_up_[link];
  const unsigned added = kind & ~unsigned{due_[link]};
  due_[link] = static_cast<std::uint8_t>(due_[link] | kind);
  if ((added & kListed) == 0) return;
  due_in_zone_[ZoneFrom(link)].push_back(link);
  if (ahead_.on) ahead_.sweep = std::min(ahead_.sweep, LatestLook(link));
}

// What of a zone is about to leave its window catches up, so that whatever it sends there is on its
// way before others have their next.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::EndWindow() {
  if constexpr (kFused) {
    const std::uint32_t zone = queue_.zone();
    if (zone == Queue::kEverywhere) return;
    if (ends_apart_ && large_) PrefetchEnds(zone);
    if (std::vector<std::uint32_t>& due = due_in_zone_[zone]; !due.empty()) {
      const std::int64_t now = std::exchange(now_, queue_.until() - 1);
      if (large_) {
        for (const std::uint32_t link : due) PrefetchFirst(link);
      }
      std::erase_if(due, [this](std::uint32_t link) {
        CatchUp(link);
        if ((due_[link] & kDue) != 0) return false;
        due_[link] = 0;
        return true;
      });
      now_ = now;
      if (!due.empty()) queue_.Mark(zone, queue_.until());
    }
    if (ends_apart_) RunEnds(zone);
  }
}

template <typename Queue, bool kFused>
Time Shard<Queue, kFused>::NextWindow()
  requires kFused
{
  std::int64_t next = zoned_ ? queue_.EarliestWindow() : std::min(queue_.next_time(), NextAhead());
  for (const Outbox& outbox : outboxes_[side_]) next = std::min(next, outbox.first);
  return next == INT64_MAX ? Time::Max() : Time::Picoseconds(next);
}

template <typename Queue, bool kFused>
Time Shard<Queue, kFused>::EndOfWindow(Time begin) const
  requires kFused
{
  return zoned_ ? Time::Picoseconds(queue_.EndOfWindow(begin.ps())) : Time::Max();
}

}  // namespace trunkline
