#pragma once

#include "engine/packet/shard.h"

namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Receive(std::uint32_t link, std::uint32_t id) {
  Packet& packet = packets_[id];
  if (gated_) {
    const bool data = packet.kind == PacketKind::kData;
    if (data && !plant_.buses.empty() && IsCrossing(link, id)) return;
    if (credits_) ReturnCredit(packet, link, now_);  // endpoints drain at once
  }
  switch (packet.kind) {
    case PacketKind::kData:
      ReceiveData(link, id);
      return;
    case PacketKind::kAck:
    case PacketKind::kNack:
      ReceiveAnswer(id);
      break;
    case PacketKind::kNotification: {
      const CongestionPolicy& policy = plant_.transport.policy;
      Sender& sender = plant_.senders[packet.queue_pair];
      if (policy.on_notification != nullptr && !sender.raw) {
        policy.on_notification(plant_.transport.policy_parameters.get(),
                               plant_.paths[packet.queue_pair], now(), sender.control);
      }
      break;
    }
    case PacketKind::kRead:
      ReceiveRead(packet);
      break;
    case PacketKind::kPause:
    case PacketKind::kResume:
      OnPause(link, packet);
      break;
  }
  packets_.Give(id);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReceiveData(std::uint32_t link, std::uint32_t id) {
  if (unit_ != 0) {
    TakeIn(link, id);
    return;
  }
  switch (TakeData(link, id)) {
    case Reply::kNone:
      packets_.Give(id);
      break;
    case Reply::kAck:
      Answer(link, id, PacketKind::kAck);
      break;
    case Reply::kNack:
      Answer(link, id, PacketKind::kNack);
      break;
  }
}

// What a packet that came in by `link` means to its receiver, and what is due to the sender.
template <typename Queue, bool kFused>
typename Shard<Queue, kFused>::Reply Shard<Queue, kFused>::TakeData(std::uint32_t link,
                                                                    std::uint32_t id) {
  const PacketTransport& transport = plant_.transport;
  Receiver& receiver = plant_.receivers[packets_[id].queue_pair];
  const bool marked = (packets_[id].flags & Packet::kMarked) != 0;
  if (marked) {
    ++receiver.marked;
    if (transport.policy.needs_cnp && now_ >= receiver.next_notification) {
      receiver.next_notification = now_ + transport.notification_interval.ps();
      SlowDown(link, id);
    }
  }
  const Packet& packet = packets_[id];
  const bool trimmed = (packet.flags & Packet::kTrimmed) != 0;
  const auto ahead = static_cast<std::int32_t>(packet.psn - receiver.expected);
  // While packets are repeated, the window may have shrunk below what would fill an
  // acknowledgement.
  bool answer = (marked && transport.policy.acks_marks) || (packet.flags & Packet::kAsks) != 0 ||
                receiver.repeats_due != 0;
  if (receiver.repeats_due != 0 && (packet.flags & Packet::kAgain) != 0) --receiver.repeats_due;
  if (ahead < 0) {
    // A repetition of what has arrived: the sender missed the acknowledgement.
    if (!trimmed) ++counters_.refused;
    answer = true;
  } else if (trimmed && any_order_) {
    ++receiver.repeats_due;
    return Reply::kNack;
  } else if (ahead == 0 && !trimmed) {
    answer |= Accept(receiver, packet);
  } else if (any_order_) {
    if (receiver.reorder == kNoIndex) {
      receiver.reorder = static_cast<std::uint32_t>(reorder_.size());
      reorder_.emplace_back();
    }
    if (reorder_[receiver.reorder].Insert(receiver.expected, packet.psn,
                                          (packet.flags & Packet::kLast) != 0)) {
      ++receiver.received;
      ++receiver.unacknowledged;
      counters_.delivered_bytes += packet.payload;
    } else {
      ++counters_.refused;
    }
    answer |= gaps_tell_;
  } else {
    // In order only: report the gap once.
    if (!trimmed) ++counters_.refused;
    return std::exchange(receiver.nacked, true) ? Reply::kNone : Reply::kNack;
  }
  return answer || receiver.unacknowledged >= transport.ack_every ? Reply::kAck : Reply::kNone;
}

// Takes the packet that is expected, and those that came before their turn; whether a message is
// whole.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::Accept(Receiver& receiver, const Packet& packet) {
  ++receiver.expected;
  ++receiver.received;
  ++receiver.unacknowledged;
  receiver.nacked = false;
  counters_.delivered_bytes += packet.payload;
  bool finished = (packet.flags & Packet::kLast) != 0;
  if (finished) Deliver(receiver, packet.queue_pair);
  if (receiver.reorder == kNoIndex) return finished;
  ReorderWindow& window = reorder_[receiver.reorder];
  ReorderWindow::Run run;
  do {
    run = window.TakeRun(receiver.expected);
    receiver.expected += run.packets;
    finished = finished || run.messages != 0;
    for (; run.messages != 0; --run.messages) Deliver(receiver, packet.queue_pair);
  } while (run.packets == 64);
  return finished;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Notify(Notice::Kind kind, std::uint32_t queue_pair, std::int64_t time) {
  notices_.push_back({kind, queue_pair, Time::Picoseconds(time)});
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Deliver(const Receiver& receiver, std::uint32_t queue_pair) {
  if (receiver.reader != kNoIndex) ++readers_[receiver.reader].served;
  Notify(Notice::Kind::kDelivered, queue_pair, now_);
}

// Turns a data packet that came in by `link` into the answer to it.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Answer(std::uint32_t link, std::uint32_t id, PacketKind kind) {
  Packet& packet = packets_[id];
  Receiver& receiver = plant_.receivers[packet.queue_pair];
  const bool trimmed = (packet.flags & Packet::kTrimmed) != 0;
  packet.kind = kind;
  packet.flags = Packet::kBackward;
  packet.ahead = 0;
  packet.arrived = 0;
  if (kind == PacketKind::kNack && trimmed && any_order_) {
    packet.flags |= Packet::kTrimmed;  // misses this packet alone
  } else {
    if (receiver.reorder != kNoIndex && plant_.can_lose) {
      // The 64 packets up to the one that is answered.
      const auto distance = static_cast<std::int32_t>(packet.psn - receiver.expected);
      packet.ahead = static_cast<std::uint16_t>(std::clamp(distance - 63, 0, 0xffff));
      packet.arrived =
          reorder_[receiver.reorder].Arrived(receiver.expected, receiver.expected + packet.ahead);
    }
    packet.psn = receiver.expected;
  }
  packet.received = receiver.received;
  packet.marked = std::exchange(receiver.marked, std::uint16_t{0});
  packet.payload = kind == PacketKind::kAck ? receiver.unacknowledged : std::uint16_t{0};
  if (kind == PacketKind::kAck) receiver.unacknowledged = 0;
  ++counters_.packets.ack;
  if (plant_.forwarding == Forwarding::kSource) --packet.hop;
  SendControl(link ^ 1U, id);
}

// An answer, request or notification leaves an endpoint by `out`, ahead of its data.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SendControl(std::uint32_t out, std::uint32_t id) {
  Packet& packet = packets_[id];
  packet.wire = static_cast<std::uint16_t>(plant_.transport.ack_bytes.count());
  if (!acks_with_data_ || packet.kind > PacketKind::kNack) packet.traffic_class = control_;
  packet.stage = 0;
  packet.ready = now_;
  if (faulty_ && plant_.IsDown(ports_[out])) {
    ++counters_.fault_drops;
    Drop(id);
    return;
  }
  Port& port = ports_[out];
  if (CanStart(port, out, packet)) {
    Transmit(out, id);
  } else {
    Enqueue(port, out, packet, id);
  }
}

// Tells the sender of a marked packet that came in by `link` to slow down.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SlowDown(std::uint32_t link, std::uint32_t data) {
  const std::uint32_t id = packets_.Take();
  Packet& packet = packets_[id];
  packet = Packet();
  packet.queue_pair = packets_[data].queue_pair;
  packet.path = packets_[data].path;
  packet.hop = packets_[data].hop;
  packet.kind = PacketKind::kNotification;
  packet.flags = Packet::kBackward;
  ++counters_.packets.control;
  if (plant_.forwarding == Forwarding::kSource) --packet.hop;
  SendControl(link ^ 1U, id);
}

}  // namespace trunkline
