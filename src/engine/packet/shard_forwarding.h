#pragma once

#include <bit>

#include "engine/packet/shard.h"
#include "trunkline/base/random.h"

namespace trunkline {

// Whether a packet that comes by a link was spoilt or cut off on the way.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::IsLost(std::uint32_t link, const Packet& packet) {
  if ((packet.flags & Packet::kSpoilt) != 0) return true;
  if (!faulty_ || !WasCutOff(link, packet)) return false;
  ++counters_.fault_drops;
  return true;
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::OnArrivalAtEnd(std::uint32_t link, std::uint32_t id) {
  Packet& packet = packets_[id];
  packet.ingress_class = packet.traffic_class;
  if ((faulty_ || (packet.flags & Packet::kSpoilt) != 0) && IsLost(link, packet)) [[unlikely]] {
    LoseOnCable(link, id);
  } else {
    Receive(link, id);
  }
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::OnArrival(std::uint32_t link, std::uint32_t id) {
  if (due_[link] == kDueInside && ports_[link].busy_until <= now_) SendDue(link);
  const std::uint32_t at = to_switch_[link];
  if (at == kNoIndex) {
    OnArrivalAtEnd(link, id);
    return;
  }
  Packet& packet = packets_[id];
  packet.ingress_class = packet.traffic_class;
  if ((faulty_ || (packet.flags & Packet::kSpoilt) != 0) && IsLost(link, packet)) [[unlikely]] {
    LoseOnCable(link, id);
    return;
  }
  if (packet.kind >= PacketKind::kPause) [[unlikely]] {
    OnPause(link, packet);
    packets_.Give(id);
    return;
  }
  packet.ingress = link;
  const std::uint32_t out = NextLink(packet, at, packet.next);
  if (faulty_ && (out == kNoIndex || plant_.IsDown(ports_[out]))) [[unlikely]] {
    ++counters_.fault_drops;
    LoseOnCable(link, id);
    return;
  }
  CatchUp(out);
  if (!Admit(link, id, out)) return;
  Port& port = ports_[out];
  if (CanStart(port, out, packet)) {
    if (control_ > 1) TakeTurn(port, out, packet);
    TransmitBy(port, out, packet, id);
  } else {
    Enqueue(port, out, packet, id);
  }
}

// A packet that finds its port idle counts in its class's turn like one that has waited.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::TakeTurn(Port& port, std::uint32_t link, const Packet& packet) {
  if (packet.traffic_class >= control_) return;  // only classes of data take turns
  if (!plant_.arbiters.empty()) {
    plant_.arbiters[link].Sent(*plant_.switches_model.arbitration,
                               static_cast<std::uint8_t>(1U << packet.traffic_class), packet.wire);
    return;
  }
  if (port.turn == packet.traffic_class && port.turn_left > 0) {
    --port.turn_left;
  } else {
    BeginTurn(port, packet.traffic_class);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::BeginTurn(Port& port, std::uint8_t traffic_class) const {
  const auto& weights = plant_.switches_model.weights;
  port.turn = traffic_class;
  port.turn_left = static_cast<std::uint8_t>(weights.empty() ? 0 : weights[traffic_class] - 1);
}

// Whether an arriving packet may leave at once: nothing is before it and nothing holds it.
template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::CanStart(const Port& port, std::uint32_t link,
                                           const Packet& packet) {
  const bool behind = ((port.waiting | port.paused) >> packet.traffic_class & 1) != 0;
  if (behind | (port.busy_until > now_)) return false;
  if (packet.ready > now_) [[unlikely]] {
    // Cut through: never from a slower link into a faster one.
    const Rate in =
        faulty_ ? plant_.health[packet.ingress].rate : plant_.details[packet.ingress].wire.rate();
    if (in < plant_.details[link].wire.rate()) return false;
  }
  return !credits_ || packet.claimed() || TakeCredit(link, packet.traffic_class, packet.wire);
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::Enqueue(Port& port, std::uint32_t link, Packet& packet,
                                          std::uint32_t id) {
  PacketQueue& queue = queues_[QueueOf(link, packet.traffic_class)];
  const auto bit = static_cast<std::uint8_t>(1U << packet.traffic_class);
  // Whether it is the first follows no pattern: no branch depends on it.
  const bool first = (port.waiting & bit) == 0;
  packets_[first ? id : queue.tail].next = id;
  packet.next = PacketPool::kNone;
  queue.head = first ? id : queue.head;
  queue.tail = id;
  port.waiting = static_cast<std::uint8_t>(port.waiting | bit);
  port.queued_bytes += packet.wire;
  std::uint32_t& most = plant_.max_queue_bytes[link];
  most = std::max(most, port.queued_bytes);
  if (port.busy_until <= now_) {
    if (packet.ready > now_) SetWake(link, packet.ready);
  } else if (CatchesUp(link)) {
    SetDue(link);
  } else {
    SetWake(link, port.busy_until);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnPortDone(std::uint32_t link) {
  Port& port = ports_[link];
  if (port.wake != now_) return;  // superseded
  port.wake = kNever;
  if (port.busy_until > now_) {
    SetWake(link, port.busy_until);
    return;
  }
  if (port.held.bytes != 0) Free(port);
  if constexpr (!kFused) {
    PortDetails& details = plant_.details[link];
    if (details.sending != PacketPool::kNone) {
      const std::uint32_t id = std::exchange(details.sending, PacketPool::kNone);
      queue_.Push(
          PacketEvent::Make(now_ + cables_[link].delay, PacketEventKind::kArrival, link, id),
          ZoneTo(link));
    }
  }
  Serve(link);
}

// Sends what is next by an idle port.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Serve(std::uint32_t link) {
  Port& port = ports_[link];
  const bool sent = port.waiting != 0 && ServeQueues(link);
  bool more = false;
  if (port.nic != kNoIndex) {
    const Nic& nic = plant_.nics[port.nic];
    more = sent ? nic.ready != 0 || !nic.paced.empty() : ServeNic(link);
  }
  if (port.waiting == 0 && !more) return;
  if (CatchesUp(link)) {
    SetDue(link);
  } else if (port.busy_until > now_) {
    SetWake(link, port.busy_until);
  }
}

// Sends the first packet of the class whose turn it is; control goes first.
template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::ServeQueues(std::uint32_t link) {
  const Port& port = ports_[link];
  auto ready = static_cast<std::uint32_t>(port.waiting & ~port.paused);
  const std::uint32_t last = control_ == 1 ? 0 : control_;  // classes before it take turns
  while (ready >> last != 0) {
    const auto lane = static_cast<std::uint32_t>(std::bit_width(ready)) - 1;
    if (ServeFirst(link, lane)) return true;
    ready &= ~(1U << lane);
  }
  return control_ != 1 && ServeData(link);
}

// Sends the first packet of a class; false when it has none that may go now.
template <typename Queue, bool kFused>
inline bool Shard<Queue, kFused>::ServeClass(std::uint32_t link, std::uint32_t traffic_class) {
  const Port& port = ports_[link];
  return ((port.waiting & ~port.paused) >> traffic_class & 1) != 0 &&
         ServeFirst(link, traffic_class);
}

// REQUIRES: a packet of the class waits, and the class is not paused.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::ServeFirst(std::uint32_t link, std::uint32_t traffic_class) {
  Port& port = ports_[link];
  PacketQueue& queue = queues_[QueueOf(link, traffic_class)];
  const std::uint32_t id = queue.head;
  Packet& packet = packets_[id];
  if (packet.ready > now_) {
    SetWake(link, packet.ready);
    return false;
  }
  if (credits_ && !packet.claimed() && !TakeCredit(link, traffic_class, packet.wire)) return false;
  queue.head = packet.next;
  packets_.Prefetch(queue.head);
  const std::uint32_t emptied = queue.head == PacketPool::kNone ? 1U : 0U;
  port.waiting = static_cast<std::uint8_t>(port.waiting & ~(emptied << traffic_class));
  port.queued_bytes -= packet.wire;
  TransmitBy(port, link, packet, id);
  return true;
}

// Weighted round robin over the data classes, or what the arbiter's tables say.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::ServeData(std::uint32_t link) {
  if (!plant_.arbiters.empty()) return ServeArbitrated(link);
  Port& port = ports_[link];
  if (port.turn_left > 0 && ServeClass(link, port.turn)) {
    --port.turn_left;
    return true;
  }
  for (std::uint8_t i = 0; i < control_; ++i) {
    port.turn = static_cast<std::uint8_t>(port.turn + 1 < control_ ? port.turn + 1 : 0);
    if (!ServeClass(link, port.turn)) continue;
    BeginTurn(port, port.turn);
    return true;
  }
  return false;  // and all is as before: how often a port is asked in vain must not matter
}

template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::ServeArbitrated(std::uint32_t link) {
  const Port& port = ports_[link];
  const VlArbitration& tables = *plant_.switches_model.arbitration;
  VlArbiter& arbiter = plant_.arbiters[link];
  auto ready = static_cast<std::uint8_t>(port.waiting & ~port.paused & ((1U << control_) - 1));
  while (const auto lane = arbiter.Pick(tables, ready)) {
    const std::int64_t before = port.wire_bytes;
    if (ServeClass(link, *lane)) {
      arbiter.Sent(tables, ready, static_cast<std::uint32_t>(port.wire_bytes - before));
      return true;
    }
    ready = static_cast<std::uint8_t>(ready & ~(1U << *lane));
  }
  return false;
}

// The first bit of a packet leaves by an idle port, which may hold a charge of the frame before.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Transmit(std::uint32_t link, std::uint32_t id) {
  TransmitBy(ports_[link], link, packets_[id], id);
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::TransmitBy(Port& port, std::uint32_t link, Packet& packet,
                                             std::uint32_t id) {
  if (port.held.bytes != 0) [[likely]]
    Free(port);
  if (port.queued_bytes > unobserved_) [[unlikely]]
    Observe(port, link, id);
  const std::uint32_t wire = packet.wire;
  const std::int64_t end = port.byte_time != 0
                               ? now_ + std::int64_t{wire} * port.byte_time
                               : plant_.details[link].wire.Advance(now_, port.busy_until, wire);
  port.busy_until = end;
  port.wire_bytes += wire;
  ++port.packets;
  ++hops_[static_cast<std::size_t>(packet.kind)];
  if (port.at_switch != kNoIndex && packet.kind < PacketKind::kPause) {
    if (!credits_) [[likely]] {
      port.held = {packet.ingress, packet.wire, packet.ingress_class};
      if (kFused && switches_[port.at_switch].exact) [[unlikely]]
        SetWake(link, end);
    } else {
      ReturnCredit(packet, packet.ingress, end);
    }
  }
  Launch(port, link, packet, id, end);
}

// Puts a packet whose frame ends at `end` on its wire.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::Launch(const Port& port, std::uint32_t link, Packet& packet,
                                         std::uint32_t id, std::int64_t end) {
  const std::int64_t delay = port.delay != kNoIndex ? port.delay : cables_[link].delay;
  packet.ready = end + delay;
  const std::uint32_t to = leads_to_[link];
  if (to == kToEnd) {
    ComeTo(link, id);
    if (ahead_.on) ahead_.ready.push_back(link ^ 1U);
    return;
  }
  packet.next = paths_stay_ && to_switch_[link] != kNoIndex ? PeekNextLink(packet, kNoIndex)
                                                            : PacketPool::kNone;
  std::int64_t arrival = packet.ready;
  if (cut_through_ && to_switch_[link] != kNoIndex) [[unlikely]] {
    // Its head is in when the headers are. Answers are headers: `payload` is what they acknowledge.
    const bool data = packet.kind == PacketKind::kData;
    const auto headers =
        std::max(1U, static_cast<std::uint32_t>(packet.wire - (data ? packet.payload : 0)));
    arrival = now_ + plant_.details[link].wire.Duration(headers) + delay;
  } else if constexpr (!kFused) {
    plant_.details[link].sending = id;
    SetWake(link, end);
    return;
  }
  if constexpr (!kFused) SetWake(link, end);
  if (to == kToShard) [[unlikely]] {
    Export(link, id, arrival);
    return;
  }
  queue_.Push(PacketEvent::Make(arrival, PacketEventKind::kArrival, link, id), to);
}

// What a packet meets as its first bit leaves: bit errors ahead, and what a switch writes into it.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Observe(const Port& port, std::uint32_t link, std::uint32_t id) {
  Packet& packet = packets_[id];
  if (faulty_) packet.times_down = static_cast<std::uint16_t>(plant_.health[link].times_down);
  const double loss = SpoilChance(link, packet.wire);
  if (loss > 0 && packet.kind < PacketKind::kPause &&
      ToUnit(Draw(plant_.seed, ~std::uint64_t{link}, port.packets)) < loss) {
    packet.flags |= Packet::kSpoilt;
  }
  if (port.at_switch == kNoIndex || packet.kind != PacketKind::kData) return;
  if (plant_.switches_model.marking) Mark(port, link, packet);
  if (telemetry_.empty()) return;
  Telemetry& telemetry = telemetry_[id];
  telemetry.hops[telemetry.count++] = {.time = now(),
                                       .sent_bytes = port.wire_bytes,
                                       .queue_bytes = port.queued_bytes,
                                       .rate = plant_.details[link].wire.rate()};
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::StartTelemetry(std::uint32_t id) {
  if (id >= telemetry_.size()) telemetry_.resize(id + 1 + id / 2);
  telemetry_[id].count = 0;
}

// Random early marking between Kmin and Kmax of what waits behind the packet.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Mark(const Port& port, std::uint32_t link, Packet& packet) {
  const MarkingCurve& curve = *plant_.switches_model.marking;
  if (curve.roots_only && port.busy_until != now_) return;
  const double scale = curve.at_rate == Rate() ? 1 : plant_.details[link].marking_scale;
  const double queued = port.queued_bytes * scale;
  const auto low = static_cast<double>(curve.low.count());
  if (queued <= low || packet.wire < curve.smallest.count()) return;
  const auto high = static_cast<double>(curve.high.count());
  if (queued < high) {
    const double chance = curve.most * (queued - low) / (high - low);
    if (ToUnit(Draw(plant_.seed, link, port.packets)) >= chance) return;
  }
  packet.flags |= Packet::kMarked;
  ++plant_.marks[link];
  ++counters_.marks;
}

// The link by which a switch sends a packet on.
template <typename Queue, bool kFused>
inline std::uint32_t Shard<Queue, kFused>::PeekNextLink(const Packet& packet, std::uint32_t at) {
  if (source_routed_) {
    const std::uint32_t back = packet.backward();
    return plant_.path_links[packet.path + packet.hop - back] ^ back;
  }
  const Home& to = (*destinations_)[packet.queue_pair].Of(packet);
  if (to.group == kNoIndex) return kNoIndex;
  const auto ports = port_table_->Ports(at, to.group);
  if (sprays_ && to.count == 1) [[likely]] {
    return PortTable::Spray(ports, switches_[at].multiplier, packet.path, to.last_link);
  }
  if (ports.empty()) return HomeLink(to, at);
  return Choose(ports, at, packet.path);
}

// The link from a switch to an end of a queue pair that is attached to it; kNoIndex where it is
// not.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::HomeLink(const Home& to, std::uint32_t at) const {
  if (ports_[to.last_link].at_switch == at) return to.last_link;
  for (const std::uint32_t link : std::span(plant_.home_links).subspan(to.first, to.count)) {
    if (ports_[link].at_switch == at) return link;
  }
  return kNoIndex;
}

template <typename Queue, bool kFused>
inline std::uint32_t Shard<Queue, kFused>::NextLink(Packet& packet, std::uint32_t at,
                                                    std::uint32_t known) {
  if (guided_) [[unlikely]]
    return Guide(packet, at);
  const std::uint32_t link = known != PacketPool::kNone ? known : PeekNextLink(packet, at);
  packet.hop = static_cast<std::uint8_t>(packet.hop + 1U - 2 * packet.backward());
  return link;
}

// How little adaptive routing likes a port: by its queue, or the grade of that.
template <typename Queue, bool kFused>
inline std::int64_t Shard<Queue, kFused>::Reluctance(const Port& port) const {
  std::int64_t queued = port.queued_bytes + (port.busy_until > now_ ? 1 : 0);
  if (grades_)
    queued = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(queued / frame_)));
  if ((port.paused & 1) != 0) queued += std::int64_t{1} << 32;
  return queued;
}

template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Choose(std::span<const std::uint32_t> ports, std::uint32_t at,
                                           std::uint32_t entropy) {
  if (ports.size() == 1) return ports[0];
  const std::uint32_t first = Spread(ports, at, entropy);
  if (plant_.forwarding == Forwarding::kSpray) return ports[first];
  std::uint32_t best = ports[first];
  std::int64_t least = INT64_MAX;
  for (std::uint32_t i = 0; i < ports.size(); ++i) {
    const std::uint32_t link = ports[(first + i) % ports.size()];
    CatchUp(link);
    const std::int64_t queued = Reluctance(ports_[link]);
    if (queued >= least) continue;
    least = queued;
    best = link;
  }
  return best;
}

}  // namespace trunkline
