#pragma once

#include "engine/packet/shard.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {

// --- Sending ------------------------------------------------------------------------------------

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Post(std::uint32_t queue_pair, std::int64_t bytes) {
  Sender& sender = plant_.senders[queue_pair];
  const std::int64_t mtu = plant_.transport.mtu.count();
  const std::int64_t packets = std::max<std::int64_t>(1, (bytes + mtu - 1) / mtu);
  TL_CHECK(packets < INT64_C(0x7fffffff) - sender.end, "packet numbers run out", bytes);
  std::uint32_t index = 0;
  if (free_messages_.empty()) {
    index = static_cast<std::uint32_t>(plant_.messages.size());
    plant_.messages.emplace_back();
  } else {
    index = free_messages_.back();
    free_messages_.pop_back();
  }
  const std::uint32_t end = sender.end + static_cast<std::uint32_t>(packets);
  plant_.messages[index] = {
      .first = sender.end,
      .end = end,
      .next = kNoIndex,
      .last_payload = static_cast<std::uint16_t>(bytes - (packets - 1) * mtu)};
  sender.end = end;
  if (sender.last_message != kNoIndex) plant_.messages[sender.last_message].next = index;
  sender.last_message = index;
  if (sender.message == kNoIndex) sender.message = index;
  if (sender.unacknowledged == kNoIndex) sender.unacknowledged = index;
  Ready(queue_pair);
}

template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::InFlight(const Sender& sender) const {
  // `received` may run ahead of a sender that went back.
  const auto packets = static_cast<std::int32_t>(sender.next_psn - sender.received);
  return std::max(packets, 0) * (plant_.transport.mtu + plant_.transport.packet_overhead).count();
}

template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::MaySend(const Sender& sender) const {
  if (sender.next_psn == sender.end) return false;
  return sender.control.window == INT64_MAX ||
         InFlight(sender) + (plant_.transport.mtu + plant_.transport.packet_overhead).count() <=
             std::max(sender.control.window,
                      (plant_.transport.mtu + plant_.transport.packet_overhead).count());
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::AppendToRing(Nic& nic, std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  sender.state = Sender::kRinging;
  if (nic.ring == kNoIndex) {
    sender.next = index;
  } else {
    sender.next = std::exchange(plant_.senders[nic.ring].next, index);
  }
  nic.ring = index;
}

// A sender may have something to send: into its NIC's ring, and the NIC awake.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Ready(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  if (sender.state != Sender::kIdle || !MaySend(sender)) return;
  Port& port = ports_[sender.link];
  AppendToRing(plant_.nics[plant_.details[sender.link].nic], index);
  SetWake(sender.link, std::max(now_, port.busy_until));
}

// Sends one packet of the next queue pair that may; whether more could follow.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::ServeNic(std::uint32_t link) {
  Port& port = ports_[link];
  Nic& nic = plant_.nics[plant_.details[link].nic];
  while (!nic.paced.empty() && nic.paced.front().time <= now_) {
    std::ranges::pop_heap(nic.paced, std::greater<>());
    AppendToRing(nic, nic.paced.back().sender);
    nic.paced.pop_back();
  }
  if ((port.paused & 1) != 0) return false;  // RESUME wakes the port
  while (nic.ring != kNoIndex) {
    const std::uint32_t index = plant_.senders[nic.ring].next;
    Sender& sender = plant_.senders[index];
    if (MaySend(sender)) {
      Packet probe;
      probe.wire = static_cast<std::uint16_t>(
          (plant_.transport.mtu + plant_.transport.packet_overhead).count());
      if (credits_ && !TakeCredit(link, probe)) return false;
      SendNext(index, link);
    }
    // Out of the ring, and back in or into the heap if there is more to send.
    if (nic.ring == index) {
      nic.ring = kNoIndex;
    } else {
      plant_.senders[nic.ring].next = sender.next;
    }
    sender.state = Sender::kIdle;
    if (MaySend(sender)) {
      if (sender.next_send <= port.busy_until) {
        AppendToRing(nic, index);
      } else {
        sender.state = Sender::kPaced;
        nic.paced.push_back({sender.next_send, index});
        std::ranges::push_heap(nic.paced, std::greater<>());
      }
    }
    if (port.busy_until > now_) break;
  }
  if (port.busy_until > now_ && nic.ring != kNoIndex) return true;
  if (!nic.paced.empty()) SetWake(link, std::max(nic.paced.front().time, port.busy_until));
  return false;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SendNext(std::uint32_t index, std::uint32_t link) {
  Sender& sender = plant_.senders[index];
  const PacketTransport& transport = plant_.transport;
  const PacketMessage& message = plant_.messages[sender.message];
  const std::uint32_t id = packets_.Take();
  Packet& packet = packets_[id];
  const bool last = sender.next_psn + 1 == message.end;
  packet.queue_pair = index;
  packet.psn = sender.next_psn++;
  packet.payload = last ? message.last_payload : static_cast<std::uint16_t>(transport.mtu.count());
  packet.wire = static_cast<std::uint16_t>(packet.payload + transport.packet_overhead.count());
  packet.kind = PacketKind::kData;
  packet.traffic_class = sender.traffic_class;
  packet.flags = last ? Packet::kLast : 0;
  packet.hop = 1;
  packet.marked = 0;
  packet.telemetry = 0;
  packet.sent = now_;
  packet.path = plant_.forwarding == Forwarding::kSource
                    ? sender.path
                    : static_cast<std::uint32_t>(Mix64(index)) + packet.psn;
  if (last) sender.message = message.next;
  ++counters_.packets.data;
  if (transport.policy.before_send != nullptr) {
    transport.policy.before_send(transport.policy_parameters.get(), plant_.paths[index], now(),
                                 packet.wire, sender.control);
  }
  Transmit(link, id);
  const Port& port = ports_[link];
  if (last) Notify(Notice::Kind::kSent, index, port.busy_until);
  const double line = static_cast<double>(plant_.paths[index].line_rate.bits_per_second());
  if (sender.control.rate < line) {
    sender.next_send = now_ + static_cast<std::int64_t>(static_cast<double>(packets_[id].wire) *
                                                        8e12 / sender.control.rate);
  } else {
    sender.next_send = port.busy_until;
  }
  if (plant_.can_lose && !sender.timer) ArmTimer(index);
}

// --- Receiving ----------------------------------------------------------------------------------

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Receive(std::uint32_t link, std::uint32_t id) {
  Packet& packet = packets_[id];
  if (credits_) ReturnCredit(packet, link, now_);  // endpoints drain at once
  switch (packet.kind) {
    case PacketKind::kData:
      ReceiveData(link, id);
      return;
    case PacketKind::kAck:
      ReceiveAck(packet);
      break;
    case PacketKind::kNack:
      ReceiveNack(packet);
      break;
    case PacketKind::kNotification: {
      const CongestionPolicy& policy = plant_.transport.policy;
      if (policy.on_notification != nullptr) {
        policy.on_notification(plant_.transport.policy_parameters.get(),
                               plant_.paths[packet.queue_pair], now(),
                               plant_.senders[packet.queue_pair].control);
      }
      break;
    }
    case PacketKind::kPause:
    case PacketKind::kResume:
      OnPause(link, packet);
      break;
  }
  packets_.Give(id);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReceiveData(std::uint32_t link, std::uint32_t id) {
  Packet& packet = packets_[id];
  const PacketTransport& transport = plant_.transport;
  Receiver& receiver = plant_.receivers[packet.queue_pair];
  if ((packet.flags & Packet::kMarked) != 0) {
    ++receiver.marked;
    if (transport.policy.needs_cnp && now_ >= receiver.next_notification) {
      receiver.next_notification = now_ + transport.notification_interval.ps();
      SlowDown(link, packet);
    }
  }
  if ((packet.flags & Packet::kTrimmed) != 0) {
    Answer(link, id, PacketKind::kNack);
    return;
  }
  const bool any_order = transport.recovery == LossRecovery::kSelectiveRepeat;
  bool finished = false;
  if (packet.psn == receiver.expected) {
    ++receiver.expected;
    ++receiver.received;
    ++receiver.unacknowledged;
    receiver.nacked = false;
    counters_.delivered_bytes += packet.payload;
    finished = (packet.flags & Packet::kLast) != 0;
    if (finished) Notify(Notice::Kind::kDelivered, packet.queue_pair, now_);
    if (receiver.reorder != kNoIndex) {
      ReorderWindow& window = reorder_[receiver.reorder];
      while (const std::uint8_t taken = window.TakeNext(receiver.expected)) {
        ++receiver.expected;
        if (taken != 2) continue;
        finished = true;
        Notify(Notice::Kind::kDelivered, packet.queue_pair, now_);
      }
    }
  } else if (static_cast<std::int32_t>(packet.psn - receiver.expected) < 0) {
    // A repetition of what has arrived: the sender missed the acknowledgement.
    finished = true;
  } else if (any_order) {
    if (receiver.reorder == kNoIndex) {
      receiver.reorder = static_cast<std::uint32_t>(reorder_.size());
      reorder_.emplace_back();
    }
    if (reorder_[receiver.reorder].Insert(receiver.expected, packet.psn,
                                          (packet.flags & Packet::kLast) != 0)) {
      ++receiver.received;
      ++receiver.unacknowledged;
      counters_.delivered_bytes += packet.payload;
    }
  } else {
    // In order only: report the gap once.
    if (!std::exchange(receiver.nacked, true)) {
      Answer(link, id, PacketKind::kNack);
    } else {
      packets_.Give(id);
    }
    return;
  }
  if (finished || receiver.unacknowledged >= transport.ack_every) {
    Answer(link, id, PacketKind::kAck);
  } else {
    packets_.Give(id);
  }
}

// Turns a data packet that came in by `link` into the answer to it.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Answer(std::uint32_t link, std::uint32_t id, PacketKind kind) {
  Packet& packet = packets_[id];
  Receiver& receiver = plant_.receivers[packet.queue_pair];
  const bool trimmed = (packet.flags & Packet::kTrimmed) != 0;
  packet.kind = kind;
  packet.flags = Packet::kBackward;
  if (kind == PacketKind::kAck || !trimmed) {
    packet.psn = receiver.expected;
  } else {
    packet.flags |= Packet::kTrimmed;  // misses this packet alone
  }
  packet.received = receiver.received;
  packet.marked = std::exchange(receiver.marked, std::uint16_t{0});
  packet.payload = kind == PacketKind::kAck ? receiver.unacknowledged : std::uint16_t{0};
  if (kind == PacketKind::kAck) receiver.unacknowledged = 0;
  packet.wire = static_cast<std::uint16_t>(plant_.transport.ack_bytes.count());
  packet.traffic_class = control_;
  packet.ready = now_;
  ++counters_.packets.ack;
  std::uint32_t out = link ^ 1U;
  if (plant_.forwarding == Forwarding::kSource) --packet.hop;
  if (CanStart(out, id)) {
    Transmit(out, id);
  } else {
    Enqueue(out, id);
  }
}

// Tells the sender of a marked packet to slow down.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SlowDown(std::uint32_t link, const Packet& data) {
  const std::uint32_t id = packets_.Take();
  Packet& packet = packets_[id];
  packet = Packet();
  packet.queue_pair = data.queue_pair;
  packet.path = data.path;
  packet.hop = data.hop;
  packet.kind = PacketKind::kNotification;
  packet.flags = Packet::kBackward;
  packet.wire = static_cast<std::uint16_t>(plant_.transport.ack_bytes.count());
  packet.traffic_class = control_;
  packet.ready = now_;
  ++counters_.packets.control;
  if (plant_.forwarding == Forwarding::kSource) --packet.hop;
  const std::uint32_t out = link ^ 1U;
  if (CanStart(out, id)) {
    Transmit(out, id);
  } else {
    Enqueue(out, id);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReceiveAck(const Packet& packet) {
  const std::uint32_t index = packet.queue_pair;
  Sender& sender = plant_.senders[index];
  const PacketTransport& transport = plant_.transport;
  if (static_cast<std::int32_t>(packet.psn - sender.acked) > 0) {
    sender.acked = packet.psn;
    sender.last_progress = now_;
    sender.retries = 0;
    if (static_cast<std::int32_t>(sender.acked - sender.next_psn) > 0) GoBack(sender, sender.acked);
    while (sender.unacknowledged != kNoIndex &&
           static_cast<std::int32_t>(plant_.messages[sender.unacknowledged].end - sender.acked) <=
               0) {
      const std::uint32_t done = sender.unacknowledged;
      sender.unacknowledged = plant_.messages[done].next;
      if (sender.last_message == done) sender.last_message = kNoIndex;
      free_messages_.push_back(done);
      Notify(Notice::Kind::kAcknowledged, index, now_);
    }
  }
  const auto newly = static_cast<std::int32_t>(packet.received - sender.received);
  if (newly > 0) sender.received = packet.received;
  if (transport.policy.on_ack != nullptr) {
    AckView view{
        .now = now(),
        .rtt = Time::Picoseconds(now_ - packet.sent),
        .acked_bytes = std::max(newly, 0) * (transport.mtu + transport.packet_overhead).count(),
        .acked_packets = packet.payload,
        .marked_packets = packet.marked,
        .acked_psn = sender.acked,
        .next_psn = sender.next_psn,
        .in_flight_bytes = InFlight(sender),
        .hops = {},
        .previous_hops = {}};
    transport.policy.on_ack(transport.policy_parameters.get(), plant_.paths[index], view,
                            sender.control);
  }
  Ready(index);
}

// Continues with packet `psn`.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::GoBack(Sender& sender, std::uint32_t psn) {
  sender.next_psn = psn;
  std::uint32_t message = sender.unacknowledged;
  while (message != kNoIndex &&
         static_cast<std::int32_t>(plant_.messages[message].end - psn) <= 0) {
    message = plant_.messages[message].next;
  }
  sender.message = message;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReceiveNack(const Packet& packet) {
  const std::uint32_t index = packet.queue_pair;
  Sender& sender = plant_.senders[index];
  if (static_cast<std::int32_t>(packet.psn - sender.acked) < 0) return;
  counters_.retransmissions += sender.next_psn - packet.psn;
  GoBack(sender, packet.psn);
  Ready(index);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ArmTimer(std::uint32_t index) {
  plant_.senders[index].timer = true;
  queue_.Push(PacketEvent::Make(now_ + plant_.transport.retransmit_timeout.ps(),
                                PacketEventKind::kTimeout, index));
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnTimeout(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  sender.timer = false;
  if (sender.acked == sender.end) return;
  const std::int64_t due = sender.last_progress + plant_.transport.retransmit_timeout.ps();
  if (due <= now_ && sender.next_psn != sender.acked) {
    ++counters_.timeouts;
    counters_.retransmissions += sender.next_psn - sender.acked;
    GoBack(sender, sender.acked);
    sender.last_progress = now_;
    Ready(index);
  }
  ArmTimer(index);
}

}  // namespace trunkline
