#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/packet/shard.h"

// Priority flow control (IEEE 802.1Q, clause 36): a switch that runs out of room for an input's
// class tells the sender to stop for a time, and repeats it before that time is over.
namespace trunkline {

// How long one PAUSE stops a port.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::PauseTime(std::uint32_t link) const {
  constexpr std::uint32_t kQuantum = 512 / 8;
  return plant_.details[link].wire.Duration(plant_.switches_model.pause.quanta * kQuantum);
}

// Tells the sender of `link` to stop or go on with a class: a frame ahead of all others.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SendPause(std::uint32_t link, std::uint32_t traffic_class, bool pause) {
  constexpr std::uint16_t kPauseWire = 84;  // a minimal Ethernet frame, preamble and gap
  const std::uint32_t back = link ^ 1U;
  if (pause) {
    Pauser& pauser = plant_.pausers[plant_.QueueOf(link, traffic_class)];
    pauser.told = now_;
    if (!std::exchange(pauser.timer, true)) {
      queue_.Push(PacketEvent::Make(now_ + PauseTime(back) / 2, PacketEventKind::kRefresh, link,
                                    traffic_class),
                  ZoneTo(link));
    }
  }
  if (plant_.IsDown(ports_[back])) return;
  const std::uint32_t id = packets_.Take();
  Packet& frame = packets_[id];
  frame = Packet();
  frame.kind = pause ? PacketKind::kPause : PacketKind::kResume;
  frame.psn = 1U << traffic_class;
  frame.wire = kPauseWire;
  frame.traffic_class = control_;
  ++counters_.packets.control;
  ++(pause ? counters_.pauses : counters_.resumes);
  Port& port = ports_[back];
  // Ahead of everything but PAUSE frames that wait already, whose order counts.
  PacketQueue& queue = plant_.queues[plant_.QueueOf(back, control_)];
  const auto bit = static_cast<std::uint8_t>(1U << control_);
  if ((port.waiting & bit) == 0) queue = PacketQueue();
  std::uint32_t before = PacketPool::kNone;
  std::uint32_t after = queue.head;
  while (after != PacketPool::kNone && packets_[after].kind >= PacketKind::kPause) {
    before = std::exchange(after, packets_[after].next);
  }
  frame.next = after;
  if (before == PacketPool::kNone) {
    queue.head = id;
  } else {
    packets_[before].next = id;
  }
  if (after == PacketPool::kNone) queue.tail = id;
  port.waiting = static_cast<std::uint8_t>(port.waiting | bit);
  port.queued_bytes += frame.wire;
  SetWake(back, std::max(now_, port.busy_until));
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnPause(std::uint32_t link, const Packet& packet) {
  const std::uint32_t back = link ^ 1U;
  CatchUp(back);
  Port& port = ports_[back];
  const auto traffic_class = static_cast<std::uint32_t>(std::countr_zero(packet.psn));
  const auto bit = static_cast<std::uint8_t>(packet.psn);
  if (plant_.IsDown(port)) return;
  if (packet.kind == PacketKind::kResume) {
    if ((port.paused & bit) != 0) Resume(back, traffic_class);
    return;
  }
  Pause& pause = plant_.pauses[plant_.QueueOf(back, traffic_class)];
  pause.until = now_ + PauseTime(back);
  if ((port.paused & bit) == 0) pause.since = now_;
  port.paused = static_cast<std::uint8_t>(port.paused | bit);
  if (!std::exchange(pause.timer, true)) AwaitExpiry(back, traffic_class, pause.until);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::AwaitExpiry(std::uint32_t link, std::uint32_t traffic_class,
                                       std::int64_t time) {
  if (ahead_.on && ports_[link].nic != kNoIndex) ahead_.Touch(link, time);
  queue_.Push(PacketEvent::Make(time, PacketEventKind::kRefresh, link, kExpiry + traffic_class),
              ZoneFrom(link));
}

// A port that has caught up goes on with a class.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Resume(std::uint32_t link, std::uint32_t traffic_class) {
  Port& port = ports_[link];
  Pause& pause = plant_.pauses[plant_.QueueOf(link, traffic_class)];
  port.paused = static_cast<std::uint8_t>(port.paused & ~(1U << traffic_class));
  pause.past += now_ - pause.since;
  GoOn(link);
}

// Something holds a port back no longer.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::GoOn(std::uint32_t link) {
  const Port& port = ports_[link];
  if (port.busy_until <= now_) {
    Serve(link);
  } else if (CatchesUp(link)) {
    if (port.waiting != 0) SetDue(link);
  } else {
    SetWake(link, port.busy_until);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnRefresh(std::uint32_t link, std::uint32_t what) {
  if (what < kExpiry) {
    RepeatPause(link, what);
  } else {
    ExpirePause(link, what - kExpiry);
  }
}

// Half of a pause's time is over at the receiver of `link`.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::RepeatPause(std::uint32_t link, std::uint32_t traffic_class) {
  const std::size_t queue = plant_.QueueOf(link, traffic_class);
  Pauser& pauser = plant_.pausers[queue];
  pauser.timer = false;
  if (!plant_.ingress[queue].paused) return;
  const std::int64_t next = pauser.told + PauseTime(link ^ 1U) / 2;
  if (next > now_) {  // of a PAUSE that was sent since
    pauser.timer = true;
    queue_.Push(PacketEvent::Make(next, PacketEventKind::kRefresh, link, traffic_class),
                ZoneTo(link));
    return;
  }
  ++counters_.pause_repeats;
  SendPause(link, traffic_class, true);
}

// The time of a pause may be over at the sender of `link`.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ExpirePause(std::uint32_t link, std::uint32_t traffic_class) {
  Pause& pause = plant_.pauses[plant_.QueueOf(link, traffic_class)];
  pause.timer = false;
  if ((ports_[link].paused & (1U << traffic_class)) == 0 || plant_.IsDown(ports_[link])) return;
  if (pause.until > now_) {
    pause.timer = true;
    AwaitExpiry(link, traffic_class, pause.until);
    return;
  }
  ++counters_.pause_expiries;
  CatchUp(link);
  Resume(link, traffic_class);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ListWaits(Time at, std::vector<QueueWait>& waits) const {
  for (std::uint32_t link = 0; link < due_.size(); ++link) {
    const Port& port = ports_[link];
    if (port.at_switch == kNoIndex || cables_[link].from_shard != id_) continue;
    if (port.held.bytes != 0 && port.busy_until > at.ps()) {
      waits.push_back(
          {plant_.QueueOf(port.held.ingress, port.held.traffic_class), QueueWait::kNothing});
    }
    for (std::uint32_t c = 0; c < classes_; ++c) {
      if ((port.waiting & (1U << c)) == 0) continue;
      const std::size_t queue = plant_.QueueOf(link, c);
      for (std::uint32_t id = plant_.queues[queue].head; id != PacketPool::kNone;
           id = packets_[id].next) {
        if (packets_[id].kind >= PacketKind::kPause) continue;
        const Packet& packet = packets_[id];
        const QueueWait wait{plant_.QueueOf(packet.ingress, packet.ingress_class), queue};
        if (waits.empty() || !(waits.back() == wait)) waits.push_back(wait);
      }
    }
  }
}

}  // namespace trunkline
