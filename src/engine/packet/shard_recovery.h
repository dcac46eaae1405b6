#pragma once

#include "engine/packet/shard.h"

namespace trunkline {

// An acknowledgement, positive or negative, has come back to the sender.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReceiveAnswer(std::uint32_t id) {
  const Packet& packet = packets_[id];
  const std::uint32_t index = packet.queue_pair;
  Sender& sender = plant_.senders[index];
  if (sender.failed) return;
  const bool trimmed = (packet.flags & Packet::kTrimmed) != 0;
  if (sender.chooser != kNoIndex) {
    choosers_[sender.chooser].Hear(packet.path, trimmed             ? PathChooser::News::kTrimmed
                                                : packet.marked > 0 ? PathChooser::News::kMarked
                                                                    : PathChooser::News::kGood);
  }
  if (unit_ != 0) MeasureRoundTrip(index, now_ - packet.sent);
  if (!trimmed) Advance(index, packet.psn);
  const auto newly = static_cast<std::int32_t>(packet.received - sender.received);
  if (newly > 0) sender.received = packet.received;
  std::uint32_t lost = 0;
  if (trimmed) {
    lost = Lose(sender, packet.psn, packet.psn + 1);
  } else if (packet.kind == PacketKind::kNack) {
    lost = GoBack(sender, packet.psn) ? 1 : 0;
  } else if (any_order_ && plant_.can_lose) {
    lost = Learn(sender, packet);
  }
  if (packet.kind == PacketKind::kAck && plant_.transport.policy.on_ack != nullptr && !sender.raw) {
    TellAcknowledged(index, id, std::max(newly, 0));
  }
  if (lost != 0) TellLost(index, lost, false, trimmed);
  Ready(index);
  if (unit_ != 0) Prepare(index);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::TellAcknowledged(std::uint32_t index, std::uint32_t id,
                                            std::int64_t newly) {
  const Packet& packet = packets_[id];
  Sender& sender = plant_.senders[index];
  AckView view{.now = now(),
               .rtt = Time::Picoseconds(now_ - packet.sent),
               .acked_bytes = newly * frame_,
               .acked_packets = packet.payload,
               .marked_packets = packet.marked,
               .acked_psn = sender.acked,
               .next_psn = sender.next_psn,
               .in_flight_bytes = InFlight(sender),
               .hops = {},
               .previous_hops = {}};
  if (!telemetry_.empty()) {
    if (index >= last_telemetry_.size()) last_telemetry_.resize(plant_.senders.size());
    view.hops = telemetry_[id].view();
    view.previous_hops = last_telemetry_[index].view();
  }
  plant_.transport.policy.on_ack(plant_.transport.policy_parameters.get(), plant_.paths[index],
                                 view, sender.control);
  if (!telemetry_.empty()) last_telemetry_[index] = telemetry_[id];
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::TellLost(std::uint32_t index, std::uint32_t packets, bool timeout,
                                    bool trimmed) {
  const CongestionPolicy& policy = plant_.transport.policy;
  Sender& sender = plant_.senders[index];
  if (policy.on_loss == nullptr || sender.raw) return;
  policy.on_loss(plant_.transport.policy_parameters.get(), plant_.paths[index],
                 {.now = now(),
                  .timeout = timeout,
                  .trimmed = trimmed,
                  .lost_bytes = packets * frame_,
                  .in_flight_bytes = InFlight(sender),
                  .acked_psn = sender.acked,
                  .next_psn = sender.next_psn},
                 sender.control);
}

// Everything before `psn` has arrived.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Advance(std::uint32_t index, std::uint32_t psn) {
  Sender& sender = plant_.senders[index];
  if (static_cast<std::int32_t>(psn - sender.acked) <= 0) return;
  if (sender.recovery != kNoIndex) {
    Recovery& recovery = recoveries_[sender.recovery];
    recovery.arrived.EraseRange(sender.acked, psn);
    sender.lost -= recovery.lost.EraseRange(sender.acked, psn);
  }
  sender.acked = psn;
  sender.last_progress = now_;
  sender.retries = 0;
  if (unit_ != 0) plant_.send_sockets[index].probed = false;
  // What a sender that went back was about to repeat had arrived after all.
  if (static_cast<std::int32_t>(sender.acked - sender.next_psn) > 0) Continue(sender, sender.acked);
  while (sender.unacknowledged != kNoIndex &&
         static_cast<std::int32_t>(messages_[sender.unacknowledged].end - sender.acked) <= 0) {
    const std::uint32_t done = sender.unacknowledged;
    sender.unacknowledged = messages_[done].next;
    if (sender.last_message == done) sender.last_message = kNoIndex;
    free_messages_.push_back(done);
    Notify(Notice::Kind::kAcknowledged, index, now_);
  }
}

// Continues with packet `psn`.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Continue(Sender& sender, std::uint32_t psn) {
  sender.next_psn = psn;
  std::uint32_t message = sender.unacknowledged;
  while (message != kNoIndex && static_cast<std::int32_t>(messages_[message].end - psn) <= 0) {
    message = messages_[message].next;
  }
  sender.message = message;
}

// Go-back-N: repeats everything from `psn` on; false when that is no news.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::GoBack(Sender& sender, std::uint32_t psn) {
  if (psn != sender.acked || static_cast<std::int32_t>(sender.next_psn - psn) <= 0) return false;
  Continue(sender, psn);
  return true;
}

template <typename Queue, bool kFused>
Recovery& Shard<Queue, kFused>::RecoveryOf(Sender& sender) {
  if (sender.recovery == kNoIndex) {
    sender.recovery = static_cast<std::uint32_t>(recoveries_.size());
    recoveries_.emplace_back();
    recoveries_.back().judged = sender.acked;
  }
  return recoveries_[sender.recovery];
}

// Selective repeat: notes those of [from, to) lost that have not arrived; how many are new.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Lose(Sender& sender, std::uint32_t from, std::uint32_t to) {
  Recovery& recovery = RecoveryOf(sender);
  std::uint32_t lost = 0;
  for (std::uint32_t psn = from; static_cast<std::int32_t>(to - psn) > 0; ++psn) {
    if (static_cast<std::int32_t>(psn - sender.acked) < 0) continue;
    if ((recovery.arrived.Word(sender.acked, psn) & 1) != 0) continue;
    if (recovery.lost.Insert(sender.acked, psn)) ++lost;
  }
  sender.lost += lost;
  return lost;
}

// Selective repeat: takes down which packets have arrived out of order, and judges those that were
// overtaken by enough others lost: once, since what was sent again is behind the others. The number
// of packets lost.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::Learn(Sender& sender, const Packet& packet) {
  if (packet.arrived == 0) return LoseAgain(sender, sender.acked - loss_distance_);
  const std::uint32_t base = packet.psn + packet.ahead;
  Recovery& recovery = RecoveryOf(sender);
  // Of an old acknowledgement, some are before `acked`.
  const auto old = std::max(static_cast<std::int32_t>(sender.acked - base), 0);
  if (const std::uint64_t word = old < 64 ? packet.arrived >> old : 0; word != 0) {
    const std::uint32_t psn = base + static_cast<std::uint32_t>(old);
    recovery.arrived.InsertWord(sender.acked, psn, word);
    if (sender.lost != 0) sender.lost -= recovery.lost.EraseWord(sender.acked, psn, word);
  }
  if (!gaps_tell_) return 0;
  const std::uint32_t newest =
      base + 63 - static_cast<std::uint32_t>(std::countl_zero(packet.arrived));
  const std::uint32_t until = newest - (loss_distance_ - 1);
  const std::uint32_t again = LoseAgain(sender, until);
  if (static_cast<std::int32_t>(until - recovery.judged) <= 0) return again;
  const std::uint32_t lost = Lose(sender, recovery.judged, until);
  recovery.judged = until;
  return lost + again;
}

// Sockets: what left before something that has arrived, again or for the first time, is lost (RACK,
// RFC 8985, with order in place of time, and no tolerance during recovery). Everything before
// `until` is known of what has left for the first time. How many are lost.
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::LoseAgain(Sender& sender, std::uint32_t until) {
  if (unit_ == 0 || sender.recovery == kNoIndex) return 0;
  Recovery& recovery = recoveries_[sender.recovery];
  auto& repeats = recovery.repeats;
  const auto has_arrived = [&](const Recovery::Repeat& repeat) {
    return static_cast<std::int32_t>(repeat.psn - sender.acked) < 0 ||
           (recovery.arrived.Word(sender.acked, repeat.psn) & 1) != 0;
  };
  std::size_t known = repeats.size();  // repeats before have arrived or are lost
  while (known > 0 && !has_arrived(repeats[known - 1]) &&
         static_cast<std::int32_t>(until - repeats[known - 1].before) <= 0) {
    --known;
  }
  if (known == 0) return 0;
  std::uint32_t lost = 0;
  const std::uint32_t before = repeats[known - 1].before;
  if (static_cast<std::int32_t>(before - recovery.judged) > 0) {
    lost += Lose(sender, recovery.judged, before);
    recovery.judged = before;
  }
  for (std::size_t i = 0; i < known; ++i) {
    if (!has_arrived(repeats[i])) lost += Lose(sender, repeats[i].psn, repeats[i].psn + 1);
  }
  repeats.erase(repeats.begin(), repeats.begin() + static_cast<std::ptrdiff_t>(known));
  return lost;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::MeasureRoundTrip(std::uint32_t index, std::int64_t sample) {
  std::int64_t& smoothed = plant_.send_sockets[index].round_trip;
  smoothed = smoothed == 0 ? sample : smoothed + (sample - smoothed) / 8;
}

// --- Timers -------------------------------------------------------------------------------------

// How long a sender waits for news; doubled with every timeout in a row.
template <typename Queue, bool kFused>
std::int64_t Shard<Queue, kFused>::TimeoutOf(std::uint32_t index) const {
  const Sender& sender = plant_.senders[index];
  const PacketTransport& transport = plant_.transport;
  if (unit_ != 0 && !plant_.send_sockets[index].probed) {
    // The loss probe of RFC 8985, section 7.2, no sooner than Linux's shortest timer, two ticks of
    // a millisecond (TCP_TIMEOUT_MIN).
    constexpr std::int64_t kLeast = 2'000'000'000;
    const std::int64_t probe = std::max(2 * plant_.send_sockets[index].round_trip, kLeast);
    if (probe < transport.retransmit_timeout.ps()) return probe;
  }
  constexpr int kMostDoublings = 10;
  const bool few =
      transport.low_timeout && InFlight(sender) < transport.low_timeout_packets * frame_;
  const Time base = few ? *transport.low_timeout : transport.retransmit_timeout;
  return base.ps() << std::min<int>(sender.retries, kMostDoublings);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ArmTimer(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  sender.timer = true;
  queue_.Push(PacketEvent::Make(std::max(now_ + 1, sender.last_progress + TimeoutOf(index)),
                                PacketEventKind::kTimeout, index, kSenderTimer),
              ZoneFrom(sender.link));
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnTimeout(std::uint32_t queue_pair, std::uint32_t what) {
  switch (what) {
    case kSenderTimer:
      OnSenderTimer(queue_pair);
      break;
    case kReadRequest:
      OnReadRequest(queue_pair);
      break;
    case kCorePass:
      EndPass(queue_pair);
      break;
    case kBusPass:
      EndCrossing(queue_pair);
      break;
    default:
      OnReaderTimer(queue_pair);
  }
}

// The one timer of a sender: early when there has been progress since it was armed.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnSenderTimer(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  sender.timer = false;
  if (sender.failed || sender.acked == sender.next_psn) return;  // the next packet arms it again
  if (sender.last_progress + TimeoutOf(index) > now_) {
    ArmTimer(index);
    return;
  }
  if (unit_ != 0 && !std::exchange(plant_.send_sockets[index].probed, true)) {
    // What comes back of it tells what has been lost.
    Lose(sender, sender.next_psn - 1, sender.next_psn);
    Ready(index);
    ArmTimer(index);
    return;
  }
  ++counters_.timeouts;
  if (++sender.retries > plant_.transport.retry_limit) {
    Fail(index);
    return;
  }
  sender.last_progress = now_;
  std::uint32_t lost = sender.next_psn - sender.acked;
  if (any_order_) {
    lost = Lose(sender, sender.acked, sender.next_psn);
  } else {
    GoBack(sender, sender.acked);
  }
  if (lost != 0) TellLost(index, lost, true, false);
  Ready(index);
  ArmTimer(index);
}

// Retries are exceeded: the queue pair goes into its error state and sends no more.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Fail(std::uint32_t index) {
  plant_.senders[index].failed = true;
  ++counters_.failures;
  Notify(Notice::Kind::kFailed, index, now_);
}

// --- Reads --------------------------------------------------------------------------------------

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PostRead(std::uint32_t queue_pair, std::int64_t bytes) {
  Receiver& receiver = plant_.receivers[queue_pair];
  if (receiver.reader == kNoIndex) {
    receiver.reader = static_cast<std::uint32_t>(readers_.size());
    readers_.emplace_back();
  }
  Reader& reader = readers_[receiver.reader];
  reader.bytes.push_back(bytes);
  reader.ready = std::max(reader.ready, now_) + message_overhead_;
  queue_.Push(PacketEvent::Make(reader.ready, PacketEventKind::kTimeout, queue_pair, kReadRequest),
              ZoneTo(LinkToReceiver(queue_pair)));
}

// The next request leaves.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnReadRequest(std::uint32_t queue_pair) {
  const Receiver& receiver = plant_.receivers[queue_pair];
  Reader& reader = readers_[receiver.reader];
  if (reader.asked == reader.served) {
    reader.last_progress = now_;
    reader.heard = receiver.received;
  }
  SendRead(queue_pair, reader.asked++);
  if (plant_.can_lose && !reader.timer) ArmReader(queue_pair);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::SendRead(std::uint32_t queue_pair, std::uint32_t request) {
  const std::uint32_t id = packets_.Take();
  Packet& packet = packets_[id];
  packet = Packet();
  packet.queue_pair = queue_pair;
  packet.kind = PacketKind::kRead;
  packet.flags = Packet::kBackward;
  packet.psn = request;
  packet.arrived =
      static_cast<std::uint64_t>(readers_[plant_.receivers[queue_pair].reader].bytes[request]);
  std::uint32_t last = 0;
  if (plant_.forwarding == Forwarding::kSource) {
    const auto [path, hops] = PathNow(queue_pair);
    packet.path = path;
    packet.hop = static_cast<std::uint8_t>(hops - 1);
    last = plant_.path_links[packet.path + packet.hop];
  } else {
    packet.path = static_cast<std::uint32_t>(Mix64(queue_pair)) + request;
    last = (*destinations_)[queue_pair].receiver().last_link;
  }
  ++counters_.packets.control;
  SendControl(last ^ 1U, id);
}

// A request has come to where the data is: it is answered by a message, in order and once.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ReceiveRead(const Packet& packet) {
  Sender& sender = plant_.senders[packet.queue_pair];
  if (packet.psn != sender.requests) return;
  ++sender.requests;
  Append(packet.queue_pair, static_cast<std::int64_t>(packet.arrived), 0);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ArmReader(std::uint32_t queue_pair) {
  Reader& reader = readers_[plant_.receivers[queue_pair].reader];
  reader.timer = true;
  const std::int64_t wait = plant_.transport.retransmit_timeout.ps() << reader.retries;
  queue_.Push(PacketEvent::Make(std::max(now_ + 1, reader.last_progress + wait),
                                PacketEventKind::kTimeout, queue_pair, kReaderTimer),
              ZoneTo(LinkToReceiver(queue_pair)));
}

// Nothing of what was asked for has come for a while: requests may have been lost.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnReaderTimer(std::uint32_t queue_pair) {
  const Receiver& receiver = plant_.receivers[queue_pair];
  Reader& reader = readers_[receiver.reader];
  reader.timer = false;
  if (reader.served == reader.asked || reader.failed) return;
  if (receiver.received != reader.heard) {
    reader.heard = receiver.received;
    reader.last_progress = now_;
    reader.retries = 0;
  } else {
    ++counters_.timeouts;
    if (reader.retries == plant_.transport.retry_limit) {
      reader.failed = true;
      ++counters_.failures;
      Notify(Notice::Kind::kFailed, queue_pair, now_);
      return;
    }
    ++reader.retries;
    reader.last_progress = now_;
    for (std::uint32_t i = reader.served; i < reader.asked; ++i) SendRead(queue_pair, i);
  }
  ArmReader(queue_pair);
}

}  // namespace trunkline
