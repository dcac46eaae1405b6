#pragma once

#include "engine/packet/shard.h"

namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Drop(std::uint32_t id) {
  const Packet& packet = packets_[id];
  ++counters_.drops;
  if (packet.kind == PacketKind::kData && (packet.flags & Packet::kTrimmed) == 0) {
    ++counters_.data_drops;
  }
  packets_.Give(id);
}

// Finds room for a packet in the switch that it came to; false: there was none, and it is gone.
template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::Admit(std::uint32_t link, std::uint32_t id, std::uint32_t out) {
  switch (plant_.switches_model.loss_control) {
    case LossControl::kPause:
      return AdmitPausing(link, id, out);
    case LossControl::kLossy:
      return AdmitLossy(id, out);
    case LossControl::kCredits:
      break;  // its sender made sure
  }
  return true;
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::TakeRoom(Switch& at, Ingress& ingress, std::uint32_t bytes) {
  const std::uint32_t before = std::max(ingress.used, reserved_);
  ingress.used += bytes;
  at.used += std::max(ingress.used, reserved_) - before;
}

template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::Fits(const Switch& at, const Ingress& ingress,
                                const Packet& packet) const {
  // Control packets are few and never paused: they may use all of the pool.
  if (packet.traffic_class >= control_) return at.used + packet.wire <= at.pool;
  const std::int64_t shared = std::int64_t{ingress.used} + packet.wire - reserved_;
  return ingress.headroom == 0 && shared * kAlphaOne <= alpha_ * (at.pool - at.used);
}

template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::AdmitPausing(std::uint32_t link, std::uint32_t id,
                                               std::uint32_t out) {
  const Packet& packet = packets_[id];
  Ingress& ingress = ingress_[QueueOf(link, packet.ingress_class)];
  Switch& at = switches_[to_switch_[link]];
  if (!Fits(at, ingress, packet)) [[unlikely]]
    return AdmitFull(link, id, out);
  TakeRoom(at, ingress, packet.wire);
  return true;
}

// There is no room for a packet as things are known.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::AdmitFull(std::uint32_t link, std::uint32_t id, std::uint32_t out) {
  const Packet& packet = packets_[id];
  Ingress& ingress = ingress_[QueueOf(link, packet.ingress_class)];
  Switch& at = switches_[to_switch_[link]];
  const bool control = packet.traffic_class >= control_;
  if (kFused && !at.exact) {
    Settle(at);
    if (Fits(at, ingress, packet)) {
      TakeRoom(at, ingress, packet.wire);
      return true;
    }
  }
  if (ingress.headroom + packet.wire > ingress.headroom_limit) {
    Drop(id);
    return false;
  }
  ingress.headroom += packet.wire;
  at.in_headroom += packet.wire;
  if (!ingress.paused && !control) {
    ingress.paused = true;
    ++ingress.pauses;
    ++at.paused;
    BeExact(at);
    // Whoever pauses did so for a packet to this output: over many, they show who held the room.
    pause_causes_[{plant_.QueueOf(link, packet.ingress_class),
                   plant_.QueueOf(out, packet.traffic_class)}] += packet.wire;
    SendPause(link, packet.ingress_class, true);
  }
  return true;
}

template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::FitsLossy(const Switch& at, const Port& port,
                                            const Packet& packet) const {
  const std::int64_t left = at.pool - at.used - packet.wire;
  // Control packets are few: they may use all of the pool. No branch depends on what comes.
  const bool control = packet.traffic_class >= control_;
  const bool within = port.queued_bytes + packet.wire <= queue_limit_;
  const bool shared =
      static_cast<double>(port.queued_bytes) <= egress_alpha_ * static_cast<double>(left);
  return (left >= 0) & (control | (within & shared));
}

template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::AdmitLossy(std::uint32_t id, std::uint32_t out) {
  const Port& port = ports_[out];
  Switch& at = switches_[port.at_switch];
  const Packet& packet = packets_[id];
  if (!FitsLossy(at, port, packet)) [[unlikely]]
    return AdmitLossyFull(id, out);
  at.used += packet.wire;
  return true;
}

// There is no room for a packet as things are known.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::AdmitLossyFull(std::uint32_t id, std::uint32_t out) {
  Packet& packet = packets_[id];
  const Port& port = ports_[out];
  Switch& at = switches_[port.at_switch];
  bool room = false;
  if (kFused && !at.exact) {
    Settle(at);
    room = FitsLossy(at, port, packet);
  }
  if (!room && packet.kind == PacketKind::kData && plant_.switches_model.trimming &&
      packet.payload > 0) {
    packet.wire = static_cast<std::uint16_t>(WireBytes(0));
    packet.payload = 0;
    packet.flags |= Packet::kTrimmed;
    packet.traffic_class = control_;
    ++counters_.trims;
    room = at.used + packet.wire <= at.pool;
  }
  if (!room) {
    Drop(id);
    return false;
  }
  at.used += packet.wire;
  return true;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::CatchUpAll(const Switch& at) {
  for (std::uint32_t i = 0; i < at.port_count; ++i) {
    const std::uint32_t link = plant_.switch_ports[at.first_port + i];
    CatchUp(link);
  }
}

// Frees what frames that have left still hold.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Settle(Switch& at) {
  CatchUpAll(at);
  for (std::uint32_t i = 0; i < at.port_count; ++i) {
    Port& port = ports_[plant_.switch_ports[at.first_port + i]];
    if (port.held.bytes != 0 && port.busy_until <= now_) Free(port);
  }
}

// From now on every frame's end is an event.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::BeExact(Switch& at) {
  if (!kFused || at.exact) return;
  CatchUpAll(at);
  at.exact = true;
  for (std::uint32_t i = 0; i < at.port_count; ++i) {
    const std::uint32_t link = plant_.switch_ports[at.first_port + i];
    due_[link] &= static_cast<std::uint8_t>(~kDue);
    const Port& port = ports_[link];
    if (port.busy_until > now_ && (port.held.bytes != 0 || port.waiting != 0)) {
      SetWake(link, port.busy_until);
    }
  }
}

// The frame that a port sent last has left: its room is free.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::Release(Switch& at, const Charge& held) {
  if (lossy_) {
    at.used -= held.bytes;
    return;
  }
  Ingress& ingress = ingress_[QueueOf(held.ingress, held.traffic_class)];
  if (ingress.headroom != 0 || ingress.paused) [[unlikely]] {
    ReleasePaused(at, ingress, held);
    return;
  }
  const std::uint32_t before = std::max(ingress.used, reserved_);
  ingress.used -= held.bytes;
  at.used -= before - std::max(ingress.used, reserved_);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReleasePaused(Switch& at, Ingress& ingress, const Charge& held) {
  const std::uint32_t from_headroom = std::min<std::uint32_t>(ingress.headroom, held.bytes);
  ingress.headroom -= from_headroom;
  at.in_headroom -= from_headroom;
  const std::uint32_t before = std::max(ingress.used, reserved_);
  ingress.used -= held.bytes - from_headroom;
  const std::uint32_t after = std::max(ingress.used, reserved_);
  at.used -= before - after;
  if (!ingress.paused || ingress.headroom != 0) return;
  const std::int64_t shared = after - reserved_;
  const std::int64_t resume = plant_.switches_model.pause.resume.count();
  if (shared != 0 && (shared + resume) * kAlphaOne > alpha_ * (at.pool - at.used)) return;
  ingress.paused = false;
  --at.paused;
  if (at.paused == 0) at.exact = false;
  SendPause(held.ingress, held.traffic_class, false);
}

// Takes room in the next buffer for a packet that may leave now; else has the port woken when
// there may be some.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::TakeCredit(std::uint32_t link, std::uint32_t traffic_class,
                                      std::uint32_t wire) {
  Lane& lane = plant_.lanes[QueueOf(link, traffic_class)];
  const std::uint32_t wanted = Credits(wire);
  if (lane.available < wanted) lane.Count(now_);
  if (lane.available >= wanted) {
    lane.available -= wanted;
    lane.starved = false;
    return true;
  }
  ++counters_.credit_stalls;
  lane.starved = true;
  if (lane.first < lane.returns.size()) SetWake(link, lane.returns[lane.first].time);
  return false;
}

// The buffer that a packet came into by `link` gets its room back at `time`; its sender knows a
// cable's latency later.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReturnCredit(const Packet& packet, std::uint32_t link,
                                        std::int64_t time) {
  const std::int64_t known = time + cables_[link].latency;
  const std::uint32_t bytes = Credits(packet.wire);
  if (const std::uint16_t sender = cables_[link].from_shard; sender != id_) {
    Outbox& outbox = outboxes_[side_][sender];
    outbox.credits.push_back({known, link, bytes, packet.ingress_class});
    outbox.Note(known);
  } else {
    NoteReturn(link, packet.ingress_class, bytes, known);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::NoteReturn(std::uint32_t link, std::uint32_t traffic_class,
                                      std::uint32_t bytes, std::int64_t known) {
  Lane& lane = plant_.lanes[QueueOf(link, traffic_class)];
  lane.Count(now_);  // while its returns are in cache
  if (lane.first > 64 && lane.first * 2 > lane.returns.size()) {
    lane.returns.erase(lane.returns.begin(), lane.returns.begin() + lane.first);
    lane.first = 0;
  }
  // Ports finish in their own order: keep the returns in that of time.
  auto place = lane.returns.end();
  while (place != lane.returns.begin() + lane.first && std::prev(place)->time > known) --place;
  lane.returns.insert(place, {known, bytes});
  if (lane.starved) SetWake(link, known);
}

}  // namespace trunkline
