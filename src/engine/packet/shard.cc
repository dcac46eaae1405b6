#include "engine/packet/shard.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/packet/shard_buffers.h"
#include "engine/packet/shard_crossing.h"
#include "engine/packet/shard_faults.h"
#include "engine/packet/shard_forwarding.h"
#include "engine/packet/shard_pausing.h"
#include "engine/packet/shard_receiving.h"
#include "engine/packet/shard_recovery.h"
#include "engine/packet/shard_sending.h"

namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Handle(const PacketEvent& event) {
  switch (event.kind()) {
    case PacketEventKind::kArrival:
      OnArrival(event.entity(), event.payload());
      break;
    case PacketEventKind::kPortDone:
      OnPortDone(event.entity());
      break;
    case PacketEventKind::kRefresh:
      OnRefresh(event.entity(), event.payload());
      break;
    case PacketEventKind::kTimeout:
      OnTimeout(event.entity(), event.payload());
      break;
    case PacketEventKind::kPost:
      application_.OnPost(event.entity(), now());
      break;
    case PacketEventKind::kFault:
      OnFault(event.entity());
      break;
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::DeliverNotices() {
  // What the application does may add notices.
  for (std::size_t i = 0; i < notices_.size(); ++i) {
    const Notice notice = notices_[i];
    switch (notice.kind) {
      case Notice::Kind::kSent:
        application_.OnSent(notice.queue_pair, notice.time);
        break;
      case Notice::Kind::kDelivered:
        application_.OnDelivered(notice.queue_pair, notice.time);
        break;
      case Notice::Kind::kFailed:
        application_.OnError(notice.queue_pair, notice.time);
        break;
      case Notice::Kind::kAcknowledged:
        application_.OnAcknowledged(notice.queue_pair, notice.time);
        break;
    }
  }
  notices_.clear();
}

// Events touch packets, ports and buffers all over memory, most of which is not in cache. Fetching
// them some dozens of events ahead hides most of the waiting: packets first, …
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PrefetchPacket(const PacketEvent& event) const {
  __builtin_prefetch(&cables_[event.entity()]);
  if (event.kind() == PacketEventKind::kArrival) {
    packets_.Prefetch(event.payload());
  } else if (event.kind() == PacketEventKind::kPortDone) {
    __builtin_prefetch(&ports_[event.entity()], 1);
    __builtin_prefetch(&plant_.queues[plant_.QueueOf(event.entity(), 0)], 1);
  }
}

// … and what they lead to when they are there.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PrefetchPorts(const PacketEvent& event) {
  const std::uint32_t link = event.entity();
  if (event.kind() != PacketEventKind::kArrival) {
    if (event.kind() != PacketEventKind::kPortDone) return;
    const PacketQueue& queue = plant_.queues[plant_.QueueOf(link, 0)];
    if (queue.head != PacketPool::kNone) packets_.Prefetch(queue.head);
    return;
  }
  const Packet& packet = packets_[event.payload()];
  if (due_[link] != 0) {
    __builtin_prefetch(&ports_[link], 1);
    __builtin_prefetch(&plant_.queues[plant_.QueueOf(link, 0)], 1);
  }
  if (cables_[link].to_switch == kNoIndex) {
    __builtin_prefetch(&plant_.receivers[packet.queue_pair], 1);
    return;
  }
  if (!plant_.ingress.empty()) {
    __builtin_prefetch(&plant_.ingress[plant_.QueueOf(link, packet.traffic_class)], 1);
  }
  if (packet.kind >= PacketKind::kPause || plant_.forwarding == Forwarding::kAdaptive) return;
  const std::uint32_t out = PeekNextLink(packet, cables_[link].to_switch);
  if (out == kNoIndex) return;
  __builtin_prefetch(&plant_.queues[plant_.QueueOf(out, packet.traffic_class)], 1);
  __builtin_prefetch(&ports_[out], 1);
  __builtin_prefetch(&cables_[out]);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Prefetch()
  requires kFused
{
  constexpr std::size_t kPorts = 16;    // events ahead
  constexpr std::size_t kPackets = 48;  // likewise
  const std::span<const PacketEvent> rest = queue_.rest();
  if (queue_.first_of_bucket()) {
    queue_.ForSomeComing([&](const PacketEvent& event) { PrefetchPacket(event); });
    for (const PacketEvent& event : rest.first(std::min(rest.size(), kPorts))) PrefetchPorts(event);
  }
  if (rest.size() > kPorts) PrefetchPorts(rest[kPorts]);
  if (rest.size() > kPackets) PrefetchPacket(rest[kPackets]);
}

template <typename Queue, bool kFused>
std::uint64_t Shard<Queue, kFused>::Run(Time limit, std::uint64_t count) {
  std::uint64_t handled = 0;
  while (handled < count) {
    const PacketEvent* const next = queue_.Top();
    if (next == nullptr || next->time >= limit.ps()) break;
    if constexpr (kFused) {
      if (large_) Prefetch();
    }
    const PacketEvent event = *next;
    queue_.Pop();
    now_ = event.time;
    Handle(event);
    ++handled;
    if (event.kind() > PacketEventKind::kPortDone) {
      ++events_;
      last_event_ = event.time;
    }
    if (notices_.empty()) continue;
    DeliverNotices();
    if (std::exchange(stop_, false)) break;
  }
  return handled;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::CatchUpTo(Time limit) {
  const std::int64_t now = std::exchange(now_, limit.ps() - 1);
  for (std::uint32_t link = 0; link < due_.size(); ++link) {
    if (due_[link] != 0) CatchUp(link);
  }
  now_ = now;
}

template <typename Queue, bool kFused>
PacketCounters Shard<Queue, kFused>::counters() const {
  const auto hops = [&](PacketKind kind) { return hops_[static_cast<std::size_t>(kind)]; };
  PacketCounters counters = counters_;
  counters.hops = {.data = hops(PacketKind::kData),
                   .ack = hops(PacketKind::kAck) + hops(PacketKind::kNack),
                   .control = hops(PacketKind::kNotification) + hops(PacketKind::kRead) +
                              hops(PacketKind::kPause) + hops(PacketKind::kResume)};
  return counters;
}

template class Shard<CalendarQueue, true>;
template class Shard<HeapQueue, false>;

}  // namespace trunkline
