#pragma once

#include <algorithm>
#include <functional>

#include "engine/packet/shard.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {

template <typename Queue, bool kFused>
inline std::uint32_t Shard<Queue, kFused>::WireBytes(std::int64_t payload) const {
  return static_cast<std::uint32_t>(std::max(std::int64_t{1}, payload + packet_overhead_));
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Post(std::uint32_t queue_pair, std::int64_t bytes) {
  Append(queue_pair, bytes, message_overhead_);
}

// Appends a message; its sender is busy for `overhead` before the first packet.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Append(std::uint32_t queue_pair, std::int64_t bytes,
                                  std::int64_t overhead) {
  Sender& sender = plant_.senders[queue_pair];
  const CongestionPolicy& policy = plant_.transport.policy;
  std::uint32_t& posted = unit_ != 0 ? plant_.send_sockets[queue_pair].posted : sender.end;
  const std::uint32_t first = posted;
  if (first == 0 && queue_pair < last_telemetry_.size()) last_telemetry_[queue_pair].count = 0;
  if (first == 0 && policy.start != nullptr && !sender.raw) {
    policy.start(plant_.transport.policy_parameters.get(), plant_.paths[queue_pair], now(),
                 sender.control);
  }
  const std::int64_t mtu = plant_.transport.mtu.count();
  const std::int64_t packets = std::max<std::int64_t>(1, (bytes + mtu - 1) / mtu);
  TL_CHECK(packets < INT64_C(0x7fffffff) - first, "packet numbers run out", bytes);
  std::uint32_t index = 0;
  if (free_messages_.empty()) {
    index = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    index = free_messages_.back();
    free_messages_.pop_back();
  }
  posted = first + static_cast<std::uint32_t>(packets);
  messages_[index] = {.first = first,
                      .end = posted,
                      .next = kNoIndex,
                      .last_payload = static_cast<std::uint16_t>(bytes - (packets - 1) * mtu)};
  if (sender.last_message != kNoIndex) messages_[sender.last_message].next = index;
  sender.last_message = index;
  if (sender.message == kNoIndex) {
    sender.message = index;
    if (overhead != 0) {
      sender.next_send = std::max(sender.next_send, now_) + overhead;
      sender.pace_wire = 0;
    }
  }
  if (sender.unacknowledged == kNoIndex) sender.unacknowledged = index;
  if (unit_ != 0) {
    SendSocket& socket = plant_.send_sockets[queue_pair];
    if (socket.message == kNoIndex) socket.message = index;
    Prepare(queue_pair);
  } else {
    Ready(queue_pair);
  }
}

template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Unsent(std::uint32_t queue_pair) const {
  const Sender& sender = plant_.senders[queue_pair];
  if (sender.last_message == kNoIndex) return 0;
  const PacketMessage& message = messages_[sender.last_message];
  const std::uint32_t next = unit_ != 0 ? sender.end + unit_ : sender.sent;
  const auto left = static_cast<std::int32_t>(message.end - std::max(message.first, next));
  return static_cast<std::uint32_t>(std::max(left, 0));
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Shorten(std::uint32_t queue_pair, std::uint32_t packets) {
  TL_CHECK(packets < Unsent(queue_pair), "more is cut off a message than is left", packets);
  Sender& sender = plant_.senders[queue_pair];
  messages_[sender.last_message].end -= packets;
  (unit_ != 0 ? plant_.send_sockets[queue_pair].posted : sender.end) -= packets;
}

// Packets that the sender has no news of.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::PacketsInFlight(const Sender& sender) const {
  // `received` may run ahead of a sender that went back.
  const auto packets = static_cast<std::int32_t>(sender.next_psn - sender.received - sender.lost);
  return std::max(packets, 0);
}

// Their bytes on the wire.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::InFlight(const Sender& sender) const {
  return PacketsInFlight(sender) * frame_;
}

template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::MaySend(const Sender& sender) const {
  if ((sender.next_psn == sender.end && sender.lost == 0) || sender.failed) return false;
  return sender.control.window == INT64_MAX ||
         PacketsInFlight(sender) * window_unit_ + window_room_ <=
             std::max(sender.control.window, window_room_);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::AppendToRing(Nic& nic, std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  std::uint32_t& ring = nic.rings[sender.traffic_class];
  sender.state = Sender::kRinging;
  if (ring == kNoIndex) {
    sender.next = index;
    nic.ready = static_cast<std::uint8_t>(nic.ready | 1U << sender.traffic_class);
  } else {
    sender.next = std::exchange(plant_.senders[ring].next, index);
  }
  ring = index;
}

// Takes the first of a class out of its ring.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PopRing(Nic& nic, std::uint8_t traffic_class) {
  std::uint32_t& ring = nic.rings[traffic_class];
  const std::uint32_t index = plant_.senders[ring].next;
  Sender& sender = plant_.senders[index];
  if (ring == index) {
    ring = kNoIndex;
    nic.ready = static_cast<std::uint8_t>(nic.ready & ~(1U << traffic_class));
  } else {
    plant_.senders[ring].next = sender.next;
  }
  sender.state = Sender::kIdle;
}

// Into the ring if a sender's pace lets it send once its port is idle, else to wait for its time,
// or to ask its policy again before: rates may rise without news. When the port is to look.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::Line(Nic& nic, std::uint32_t index, std::int64_t idle) {
  Sender& sender = plant_.senders[index];
  if (sender.next_send <= idle) {
    AppendToRing(nic, index);
    return idle;
  }
  std::int64_t time = sender.next_send;
  if (reconsider_ != 0 && sender.pace_wire != 0) time = std::min(time, idle + reconsider_);
  sender.state = Sender::kPaced;
  nic.paced.push_back({time, index, sender.number});
  std::ranges::push_heap(nic.paced, std::greater<>());
  return time;
}

// Sets when a sender's pace lets it send again.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Pace(Sender& sender) const {
  sender.next_send =
      sender.pace_from +
      static_cast<std::int64_t>(static_cast<double>(sender.pace_wire) * 8e12 / sender.control.rate);
}

// What timers have done to the rate of a sender that waits for its pace.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Reconsider(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  const PacketTransport& transport = plant_.transport;
  if (sender.pace_wire == 0 || sender.raw) return;
  transport.policy.before_send(transport.policy_parameters.get(), plant_.paths[index], now(), 0,
                               sender.control);
  Pace(sender);
}

// A sender may have something to send: in line at its NIC, and the NIC awake.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Ready(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  if (sender.state != Sender::kIdle || !MaySend(sender)) return;
  const std::int64_t idle = std::max(now_, ports_[sender.link].busy_until);
  SetWake(sender.link, Line(plant_.nics[ports_[sender.link].nic], index, idle));
}

// The class that goes next of those that are ready, a bit each.
template <typename Queue, bool kFused>
std::uint8_t Shard<Queue, kFused>::NextClass(std::uint32_t link, const Nic& nic,
                                             std::uint8_t ready) const {
  if (!plant_.arbiters.empty()) {
    if (const auto lane = plant_.arbiters[link].Pick(*plant_.switches_model.arbitration, ready)) {
      return *lane;
    }
  }
  const auto after = static_cast<std::uint8_t>(ready & (0xfeU << nic.turn));
  return static_cast<std::uint8_t>(std::countr_zero(after != 0 ? after : ready));
}

// What holds up the first of a class, which has a packet to send: a bus, and it leaves the ring to
// wait for its place there, or a credit, and its class can send no more. Out of the way of those
// whom nothing holds up.
template <typename Queue, bool kFused>
[[gnu::noinline]] std::optional<std::uint8_t> Shard<Queue, kFused>::HeldUp(std::uint32_t link,
                                                                           std::uint32_t index,
                                                                           std::uint32_t wire) {
  const Sender& sender = plant_.senders[index];
  const bool buses = !plant_.buses.empty();
  if (buses && !HasCrossed(index, static_cast<std::uint32_t>(wire - packet_overhead_))) {
    Nic& nic = plant_.nics[ports_[link].nic];
    PopRing(nic, sender.traffic_class);
    Line(nic, index, now_);
    return std::uint8_t{0};
  }
  if (credits_ && !TakeCredit(link, sender.traffic_class, wire)) {
    return static_cast<std::uint8_t>(1U << sender.traffic_class);
  }
  if (buses) plant_.bus_paths[index].placed = false;
  return std::nullopt;
}

// Sends one packet of the next queue pair that may; whether more could follow. Classes take turns,
// and so do the queue pairs of a class: neither pause nor pace of one costs the others anything.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::ServeNic(std::uint32_t link) {
  Port& port = ports_[link];
  Nic& nic = plant_.nics[port.nic];
  while (!nic.paced.empty() && nic.paced.front().time <= now_) {
    std::ranges::pop_heap(nic.paced, std::greater<>());
    const std::uint32_t index = nic.paced.back().sender;
    nic.paced.pop_back();
    if (plant_.senders[index].next_send > now_) Reconsider(index);
    Line(nic, index, now_);
  }
  std::uint8_t held = port.paused;  // classes that may not send: RESUME or a credit wakes the port
  while (const auto ready = static_cast<std::uint8_t>(nic.ready & ~held)) {
    const bool alone = (ready & (ready - 1)) == 0;
    nic.turn =
        alone ? static_cast<std::uint8_t>(std::countr_zero(ready)) : NextClass(link, nic, ready);
    const std::uint32_t index = plant_.senders[nic.rings[nic.turn]].next;
    Sender& sender = plant_.senders[index];
    if (MaySend(sender)) {
      const Frame frame = NextFrame(sender);
      const std::uint32_t wire = WireBytes(frame.payload);
      if (gated_) {
        if (const auto classes = HeldUp(link, index, wire)) {
          held = static_cast<std::uint8_t>(held | *classes);
          continue;
        }
      }
      Send(index, link, frame);
      if (!plant_.arbiters.empty()) {
        plant_.arbiters[link].Sent(*plant_.switches_model.arbitration, ready, wire);
      }
    }
    const std::int64_t idle = std::max(now_, port.busy_until);
    if (MaySend(sender) && sender.next_send <= idle) {
      nic.rings[nic.turn] = index;  // now the last
    } else {
      PopRing(nic, nic.turn);
      if (MaySend(sender)) Line(nic, index, idle);
    }
    if (port.busy_until > now_) break;
  }
  if (port.busy_until > now_ && nic.ready != 0) return true;
  if (!nic.paced.empty()) SetWake(link, std::max(nic.paced.front().time, port.busy_until));
  return false;
}

// What a sender sends next: what is known to be lost goes first.
template <typename Queue, bool kFused>
typename Shard<Queue, kFused>::Frame Shard<Queue, kFused>::NextFrame(const Sender& sender) const {
  std::uint32_t psn = sender.next_psn;
  std::uint32_t message = sender.message;
  if (sender.lost != 0) {
    psn = recoveries_[sender.recovery].lost.First(sender.acked, sender.next_psn);
    message = sender.unacknowledged;
    while (static_cast<std::int32_t>(messages_[message].end - psn) <= 0) {
      message = messages_[message].next;
    }
  }
  const PacketMessage& of = messages_[message];
  const bool last = psn + 1 == of.end;
  return {
      .psn = psn,
      .payload = last ? of.last_payload : static_cast<std::uint16_t>(plant_.transport.mtu.count()),
      .last = last,
      .again = static_cast<std::int32_t>(psn - sender.sent) < 0};
}

// What switches spray the next packet by: new for every one, whatever went before, or what the
// sender's PathChooser says.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Entropy(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  const auto own = static_cast<std::uint32_t>(Mix64(index));
  if (flowlet_gap_ != 0) return own + Flowlet(index);
  if (plant_.transport.path_selection == PathSelection::kOblivious || groups_ != nullptr) {
    return own + sender.entropy++;
  }
  if (sender.chooser == kNoIndex) {
    sender.chooser = static_cast<std::uint32_t>(choosers_.size());
    choosers_.emplace_back(HashCombine(plant_.seed, index));
  }
  return (own & ~(PathChooser::kEntropies - 1)) | choosers_[sender.chooser].Next();
}

// The number of the flowlet that a queue pair's next packet is of.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Flowlet(std::uint32_t index) {
  if (index >= flowlet_sent_.size()) flowlet_sent_.resize(plant_.senders.size(), 0);
  const std::int64_t last = std::exchange(flowlet_sent_[index], now_);
  std::uint32_t& flowlet = plant_.senders[index].entropy;
  return now_ - last > flowlet_gap_ ? ++flowlet : flowlet;
}

// The packet of a frame.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Pack(std::uint32_t index, const Frame& frame) {
  const Sender& sender = plant_.senders[index];
  const std::uint32_t id = packets_.Take();
  Packet& packet = packets_[id];
  packet.queue_pair = index;
  packet.psn = frame.psn;
  packet.payload = frame.payload;
  packet.wire = static_cast<std::uint16_t>(WireBytes(frame.payload));
  packet.kind = PacketKind::kData;
  packet.traffic_class = sender.traffic_class;
  packet.flags = static_cast<std::uint8_t>((frame.last ? Packet::kLast : 0) |
                                           (frame.again ? Packet::kAgain : 0));
  packet.hop = 1;
  packet.stage = 0;
  packet.marked = 0;
  packet.sent = now_;
  packet.path = plant_.forwarding == Forwarding::kSource ? sender.path : Entropy(index);
  if (!telemetry_.empty()) StartTelemetry(id);
  return id;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Send(std::uint32_t index, std::uint32_t link, const Frame& frame) {
  Sender& sender = plant_.senders[index];
  const PacketTransport& transport = plant_.transport;
  const std::uint32_t id = Pack(index, frame);
  Packet& packet = packets_[id];
  std::int64_t overhead = 0;
  if (frame.psn == sender.next_psn) {
    ++sender.next_psn;
    if (frame.last) {
      sender.message = messages_[sender.message].next;
      if (sender.message != kNoIndex) overhead = message_overhead_;
    }
  } else {
    Recovery& recovery = recoveries_[sender.recovery];
    recovery.lost.Erase(frame.psn);
    --sender.lost;
    if (unit_ != 0) recovery.repeats.push_back({frame.psn, sender.next_psn});
  }
  if (frame.again) {
    ++counters_.retransmissions;
  } else {
    sender.sent = frame.psn + 1;
  }
  const bool limited = sender.control.window != INT64_MAX || unit_ != 0;
  if (limited && !MaySend(sender)) packet.flags |= Packet::kAsks;
  ++counters_.packets.data;
  const std::uint16_t wire = packet.wire;
  if (transport.policy.before_send != nullptr && !sender.raw) {
    transport.policy.before_send(transport.policy_parameters.get(), plant_.paths[index], now(),
                                 wire, sender.control);
  }
  Transmit(link, id);
  const Port& port = ports_[link];
  if (frame.last && !frame.again) Notify(Notice::Kind::kSent, index, port.busy_until);
  if (sender.control.rate < sender.line_rate) {
    sender.pace_from = now_ + overhead;
    sender.pace_wire = wire;
    Pace(sender);
  } else {
    sender.pace_wire = 0;
    sender.next_send = port.busy_until + overhead;
  }
  if (!plant_.can_lose) return;
  if (frame.psn == sender.acked) sender.last_progress = now_;  // nothing older is under way
  if (!sender.timer) ArmTimer(index);
}

}  // namespace trunkline
