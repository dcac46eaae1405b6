#include "engine/packet/shard.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/packet/shard_ahead.h"
#include "engine/packet/shard_buffers.h"
#include "engine/packet/shard_buses.h"
#include "engine/packet/shard_calm.h"
#include "engine/packet/shard_crossing.h"
#include "engine/packet/shard_ends.h"
#include "engine/packet/shard_faults.h"
#include "engine/packet/shard_forwarding.h"
#include "engine/packet/shard_guiding.h"
#include "engine/packet/shard_passing.h"
#include "engine/packet/shard_pausing.h"
#include "engine/packet/shard_receiving.h"
#include "engine/packet/shard_recovery.h"
#include "engine/packet/shard_sending.h"
#include "engine/packet/shard_sockets.h"
#include "engine/packet/shard_windows.h"

namespace trunkline {

template <typename Queue, bool kFused>
Shard<Queue, kFused>::Shard(Plant& plant, PacketApplication& application, Time bucket, Time horizon)
    : plant_(plant),
      application_(application),
      port_table_(plant.port_table.get()),
      groups_(plant.groups.get()),
      escape_(plant.escape.get()),
      destinations_(&plant.destinations),
      zones_(plant.zones.of_link.data()),
      zoned_(kFused && plant.zones.count > 1),
      due_in_zone_(zoned_ ? plant.zones.count : 1),
      ends_apart_(zoned_ && plant.zones.ends_apart),
      ahead_(plant, kFused && !zoned_),
      inboxes_(ends_apart_ || ahead_.on ? plant.cables.size() : 0),
      ends_in_zone_(ends_apart_ ? plant.zones.count : 0),
      queue_(bucket, horizon, kFused ? plant.zones.count : 1),
      packets_(plant.large()),
      ports_(plant.ports.data()),
      queues_(plant.queues.data()),
      ingress_(plant.ingress.data()),
      cables_(plant.cables.data()),
      switches_(plant.switches.data()),
      to_switch_(plant.cables.size()),
      leads_to_(plant.cables.size()),
      catches_up_(plant.ports.size()),
      due_(plant.ports.size(), 0),
      frame_((plant.transport.mtu + plant.transport.packet_overhead).count()),
      window_unit_(plant.transport.window_rule == WindowRule::kFits ? frame_
                                                                    : plant.transport.mtu.count()),
      window_room_(plant.transport.window_rule == WindowRule::kFits ? frame_ : 1),
      acks_with_data_(plant.transport.acks_with_data),
      packet_overhead_(plant.transport.packet_overhead.count()),
      message_overhead_(plant.transport.sockets ? 0 : plant.transport.message_overhead.ps()),
      reconsider_(plant.transport.policy.reconsider.ps()),
      loss_distance_(plant.transport.loss_distance.value_or(
          plant.forwarding == Forwarding::kSource || plant.flowlet_gap != 0 ? 1 : kNoIndex)),
      any_order_(plant.transport.recovery == LossRecovery::kSelectiveRepeat),
      gaps_tell_(any_order_ && plant.can_lose && loss_distance_ != kNoIndex),
      faulty_(plant.faults != nullptr),
      unobserved_(plant.switches_model.frame_loss > 0 || plant.transport.policy.needs_telemetry ||
                          faulty_
                      ? -1
                      : plant.LeastMarkedQueue()),
      source_routed_(plant.forwarding == Forwarding::kSource),
      sprays_(plant.forwarding == Forwarding::kSpray && !faulty_),
      paths_stay_(source_routed_ && !faulty_),
      guided_(plant.groups != nullptr || plant.channels > 1),
      grades_(plant.routing.style == AdaptiveStyle::kEthernet),
      flowlet_gap_(plant.flowlet_gap),
      large_(plant.large()),
      lossy_(plant.switches_model.loss_control == LossControl::kLossy),
      credits_(!plant.lanes.empty()),
      gated_(credits_ || !plant.buses.empty()),
      cut_through_(plant.switches_model.cut_through),
      catch_up_(!credits_ && !cut_through_),
      reserved_(static_cast<std::uint32_t>(plant.switches_model.pause.reserved.count())),
      queue_limit_(plant.switches_model.queue > Bytes() ? plant.switches_model.queue.count()
                                                        : INT64_MAX),
      egress_alpha_(plant.switches_model.egress_alpha),
      alpha_(static_cast<std::int64_t>(plant.switches_model.pause.alpha * kAlphaOne)),
      classes_(plant.switches_model.classes),
      control_(plant.control_class()) {
  for (std::size_t i = 0; i < to_switch_.size(); ++i) to_switch_[i] = plant.cables[i].to_switch;
  FindWays();
  if (ends_apart_) {
    for (std::uint32_t link = 0; link < to_switch_.size(); ++link) {
      if (plant.ports[link].nic != kNoIndex) ends_in_zone_[ZoneFrom(link)].push_back(link);
    }
  }
  FindCalm();
  outs_.fill(kNoIndex);
  if (plant.transport.policy.needs_telemetry) telemetry_.resize(1024);
  if (const auto& sockets = plant.transport.sockets) {
    const Bytes mtu = plant.transport.mtu;
    unit_ = static_cast<std::uint32_t>(UnitOf(*sockets, mtu).count() / mtu.count());
    window_ = static_cast<std::uint32_t>(sockets->window.count() / mtu.count());
  }
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::Handle(const PacketEvent& event) {
  if (event.kind() == PacketEventKind::kArrival) {
    OnArrival(event.entity(), event.payload());
  } else {
    HandleOther(event);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::HandleOther(const PacketEvent& event) {
  // Every shard has it, so it is not among the events, which are the same for any number.
  if (event.kind() == PacketEventKind::kPost && event.payload() == kNoIndex) --events_;
  if (ends_apart_) CatchUpEnd(event);
  if (ahead_.on && HandleAhead(event)) return;
  switch (event.kind()) {
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
    case PacketEventKind::kArrival:
      break;  // Handle's
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

namespace {

// How many events ahead.
constexpr std::size_t kPackets = 48;
constexpr std::size_t kPaths = 32;
constexpr std::size_t kPorts = 16;
constexpr std::size_t kFirst = 8;

}  // namespace

// Events touch packets, ports and buffers all over memory, most of which is not in cache. Fetching
// them some dozens of events ahead hides most of the waiting: packets first, …
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::PrefetchPacket(const PacketEvent& event) const {
  if (event.kind() == PacketEventKind::kArrival) {
    packets_.Prefetch(event.payload());
  } else if (event.kind() == PacketEventKind::kPortDone) {
    __builtin_prefetch(&ports_[event.entity()], 1);
  }
}

// … then their paths, …
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::PrefetchPath(const PacketEvent& event) const {
  if (event.kind() == PacketEventKind::kPortDone) {
    const std::uint32_t nic = ports_[event.entity()].nic;
    if (nic != kNoIndex) __builtin_prefetch(&plant_.nics[nic], 1);
  }
  if (event.kind() != PacketEventKind::kArrival) return;
  if (paths_stay_ && !guided_) return;
  const Packet& packet = packets_[event.payload()];
  if (source_routed_) {
    __builtin_prefetch(plant_.path_links.data() + packet.path + packet.hop);
    if (guided_) __builtin_prefetch(plant_.path_channels.data() + packet.path + packet.hop);
  } else {
    __builtin_prefetch(&(*destinations_)[packet.queue_pair]);
  }
}

// What a packet meets at the end of its way.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::PrefetchEnd(const Packet& packet) const {
  if (packet.kind == PacketKind::kData) {
    __builtin_prefetch(&plant_.receivers[packet.queue_pair], 1);
    return;
  }
  PrefetchSender(packet.queue_pair);
}

template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::PrefetchSender(std::uint32_t index) const {
  const auto* const sender = reinterpret_cast<const std::byte*>(&plant_.senders[index]);
  for (std::size_t i = 0; i < sizeof(Sender); i += 64) __builtin_prefetch(sender + i, 1);
  __builtin_prefetch(&plant_.paths[index]);
}

// … then what they lead to, …
template <typename Queue, bool kFused>
std::uint32_t Shard<Queue, kFused>::PrefetchPorts(const PacketEvent& event) {
  const std::uint32_t link = event.entity();
  if (event.kind() == PacketEventKind::kPortDone) {
    if (ports_[link].nic == kNoIndex) return link;
    const Nic& nic = plant_.nics[ports_[link].nic];
    // A heap is gone through from its first to one of its last.
    constexpr std::size_t kALine = 64 / sizeof(Nic::Paced);
    const std::size_t most = std::min<std::size_t>(nic.paced.size(), 8 * kALine);
    for (std::size_t i = 0; i < most; i += kALine) __builtin_prefetch(&nic.paced[i], 1);
    return link;
  }
  if (event.kind() != PacketEventKind::kArrival) return kNoIndex;
  Packet& packet = packets_[event.payload()];
  if ((due_[link] & kDue) != 0) {
    __builtin_prefetch(&ports_[link], 1);
    __builtin_prefetch(&queues_[QueueOf(link, 0)], 1);
  }
  const std::uint32_t at = to_switch_[link];
  if (at == kNoIndex) {
    PrefetchEnd(packet);
    return kNoIndex;
  }
  if (ingress_ != nullptr) __builtin_prefetch(&ingress_[QueueOf(link, packet.traffic_class)], 1);
  if (credits_) __builtin_prefetch(&plant_.lanes[QueueOf(link, packet.traffic_class)], 1);
  __builtin_prefetch(&switches_[at], 1);
  if (packet.kind >= PacketKind::kPause || plant_.forwarding >= Forwarding::kAdaptive) {
    return kNoIndex;
  }
  const std::uint32_t out =
      packet.next != PacketPool::kNone ? packet.next : PeekNextLink(packet, at);
  if (out == kNoIndex) return kNoIndex;
  if (!faulty_) packet.next = out;
  __builtin_prefetch(&ports_[out], 1);
  if (credits_) __builtin_prefetch(&plant_.lanes[QueueOf(out, packet.traffic_class)], 1);
  if ((due_[out] & kDue) != 0) __builtin_prefetch(&queues_[QueueOf(out, packet.traffic_class)], 1);
  return out;
}

// … and last what a port frees and sends next.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::PrefetchFirst(std::uint32_t link) const {
  const Port& port = ports_[link];
  if (ingress_ != nullptr && port.held.bytes != 0) {
    __builtin_prefetch(&ingress_[QueueOf(port.held.ingress, port.held.traffic_class)], 1);
  }
  if ((port.waiting & 1) != 0) {
    packets_.Prefetch(queues_[QueueOf(link, 0)].head);
  } else if (port.nic != kNoIndex) {
    const Nic& nic = plant_.nics[port.nic];
    std::uint32_t next = nic.rings[0];
    if (next == kNoIndex && !nic.paced.empty()) next = nic.paced[0].sender;
    if (next == kNoIndex) return;
    PrefetchSender(next);
  }
}

// … where credits that come back are noted …
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::PrefetchReturns(const PacketEvent& event) const {
  if (event.kind() != PacketEventKind::kArrival) return;
  const Packet& packet = packets_[event.payload()];
  const Lane& lane = plant_.lanes[QueueOf(event.entity(), packet.traffic_class)];
  __builtin_prefetch(lane.returns.data() + lane.first, 1);
  __builtin_prefetch(lane.returns.data() + lane.returns.size(), 1);
}

// `next` is the event to be handled, `end` the end of its bucket.
template <typename Queue, bool kFused>
inline void Shard<Queue, kFused>::Prefetch(const PacketEvent* next, const PacketEvent* end)
  requires kFused
{
  const auto left = static_cast<std::size_t>(end - next);
  if (left <= kFirst) return;
  const std::size_t place = queue_.place();
  if (const PacketEvent& event = next[kFirst];
      event.kind() == PacketEventKind::kArrival && (due_[event.entity()] & kDue) != 0) {
    PrefetchFirst(event.entity());
  }
  const std::uint32_t out = outs_[(place + kFirst) % outs_.size()];
  if (out != kNoIndex) PrefetchFirst(out);
  if (credits_) PrefetchReturns(next[kFirst]);
  if (left <= kPorts) return;
  outs_[(place + kPorts) % outs_.size()] = PrefetchPorts(next[kPorts]);
  if (left <= kPaths) return;
  PrefetchPath(next[kPaths]);
  if (left > kPackets) PrefetchPacket(next[kPackets]);
}

// The same as a bucket begins.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PrefetchBucket(std::span<const PacketEvent> bucket)
  requires kFused
{
  if (bucket.size() > Queue::kSomeComing) {  // else this was done as the bucket before began
    for (const PacketEvent& event : bucket.first(kPackets)) PrefetchPacket(event);
  }
  queue_.ForSomeOf(queue_.coming(), [&](const PacketEvent& event) { PrefetchPacket(event); });
  for (const PacketEvent& event : bucket.first(std::min(bucket.size(), kPaths))) {
    PrefetchPath(event);
  }
  const auto ports = bucket.first(std::min(bucket.size(), kPorts));
  for (std::size_t i = 0; i < ports.size(); ++i) outs_[i] = PrefetchPorts(ports[i]);
}

// The same as a zone's turn begins, for all of its events: the loads of one do not wait for those
// of another. The packets of the next zone come from farther away.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::PrefetchZone()
  requires kFused
{
  queue_.ForSomeOf(queue_.coming(), [&](const PacketEvent& event) { PrefetchPacket(event); });
  if (ends_apart_) {
    for (const std::uint32_t link : ends_in_zone_[queue_.zone()]) {
      __builtin_prefetch(&ports_[link], 1);
      packets_.Prefetch(inboxes_[link ^ 1U].head);
    }
  }
  if (!paths_stay_) {
    for (const PacketEvent& event : queue_.rest()) PrefetchPath(event);
  }
  if (calm_) return;  // RunCalm sees to the rest
  if (!paths_stay_) {
    for (const PacketEvent& event : queue_.rest()) PrefetchPorts(event);
  }
  for (const PacketEvent& event : queue_.rest()) {
    if (event.kind() == PacketEventKind::kPortDone) {
      PrefetchFirst(event.entity());
    } else if (event.kind() == PacketEventKind::kArrival) {
      if (due_[event.entity()] == kDueInside) PrefetchFirst(event.entity());
      const Packet& packet = packets_[event.payload()];
      if (packet.next != PacketPool::kNone) {
        PrefetchFirst(packet.next);
      } else if (paths_stay_) {
        PrefetchEnd(packet);
      }
    }
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::BeginBucket()
  requires kFused
{
  if (large_ && zoned_) {
    PrefetchZone();
  } else if (large_) {
    PrefetchBucket(queue_.rest());
  } else if (!zoned_ && !ahead_.on) {
    queue_.ForSomeOf(queue_.coming(), [&](const PacketEvent& event) { PrefetchPacket(event); });
  }
}

template <typename Queue, bool kFused>
std::uint64_t Shard<Queue, kFused>::Run(Time limit, std::uint64_t count) {
  std::uint64_t handled = 0;
  if (ahead_.on) BeginAhead(limit.ps());
  while (handled < count) {
    if (queue_.empty()) {
      if (zoned_) EndWindow();
      if (!queue_.Turn(limit.ps())) {
        if (ahead_.sweep >= limit.ps()) break;
        Sweep(ahead_.sweep);
        ++handled;
        continue;
      }
      if constexpr (kFused) {
        BeginBucket();
        if (zoned_) {
          handled += RunCalm();
          queue_.Sort();
          if (queue_.empty()) continue;
        }
      }
    }
    const PacketEvent event = queue_.Top();
    if (event.time >= std::min(limit.ps(), ahead_.sweep)) [[unlikely]] {
      if (ahead_.sweep >= limit.ps()) break;
      Sweep(ahead_.sweep);
      continue;
    }
    if constexpr (kFused) {
      if (large_ && !zoned_) Prefetch(&queue_.Top(), queue_.end());
    }
    queue_.Pop();
    now_ = event.time;
    Handle(event);
    if (!ahead_.ready.empty()) RunReadyEnds();
    ++handled;
    if (event.kind() > PacketEventKind::kPortDone) {
      ++events_;
      last_event_ = std::max(last_event_, event.time);  // zones take turns
    }
    if (notices_.empty()) continue;
    DeliverNotices();
    if (std::exchange(stop_, false)) return handled;
  }
  if (ahead_.on && handled < count) EndAhead();
  return handled;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::CatchUpTo(Time limit) {
  const std::int64_t now = std::exchange(now_, limit.ps() - 1);
  for (std::uint32_t link = 0; link < due_.size(); ++link) {
    CatchUp(link);
  }
  RunReadyEnds();
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
