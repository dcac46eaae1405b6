#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/packet/shard.h"

// A port of a calm switch goes through a window: what comes in for it is let in, and what waits
// leaves, without a look at anything else.
namespace trunkline {

// The port meanwhile, apart from the plant, where it might be what is written next. How a run
// controls losses, and who chooses paths, is known to the compiler here.
template <typename Shard, bool kLossy, bool kSource>
struct Passage {
  Passage(Shard& its_shard, std::uint32_t its_link)
      : shard(its_shard),
        link(its_link),
        to(its_shard.leads_to_[its_link]),
        port(its_shard.ports_[its_link]),
        at(its_shard.switches_[port.at_switch]),
        queues(&its_shard.queues_[its_shard.QueueOf(its_link, 0)]),
        open(static_cast<std::uint8_t>(~port.paused)),
        waiting(port.waiting),
        queued(port.queued_bytes),
        most_queued(its_shard.plant_.max_queue_bytes[its_link]),
        busy_until(port.busy_until),
        wire_bytes_before(port.wire_bytes),
        wire_bytes(port.wire_bytes),
        packets(port.packets),
        held(port.held) {}

  void Store() {
    port.waiting = static_cast<std::uint8_t>(waiting);
    port.queued_bytes = queued;
    port.busy_until = busy_until;
    port.wire_bytes = wire_bytes;
    port.packets = packets;
    port.held = held;
  }

  [[gnu::always_inline]] void Arrive(const PacketEvent& event) {
    const std::uint32_t id = event.payload();
    Packet& packet = shard.packets_[id];
    const std::uint32_t lane = packet.traffic_class;
    if constexpr (kSource) {
      packet.hop = static_cast<std::uint8_t>(packet.hop + 1U - 2 * packet.backward());
    }
    if constexpr (!kLossy) {
      packet.ingress = event.entity();
      packet.ingress_class = packet.traffic_class;
      shard.TakeRoom(at, shard.ingress_[shard.QueueOf(packet.ingress, lane)], packet.wire);
    }
    const bool behind = ((waiting | ~open) >> lane & 1) != 0;
    if (behind | (busy_until > event.time)) {
      Enqueue(packet, id, lane);
    } else {
      Send(packet, id, event.time);
    }
  }

  [[gnu::always_inline]] void Enqueue(Packet& packet, std::uint32_t id, std::uint32_t lane) {
    PacketQueue& queue = queues[lane];
    // Whether it is the first follows no pattern: no branch depends on it.
    const std::uint32_t first = (waiting >> lane & 1) - 1;  // all bits, or none
    shard.packets_[(id & first) | (queue.tail & ~first)].next = id;
    packet.next = PacketPool::kNone;
    queue.head = (id & first) | (queue.head & ~first);
    queue.tail = id;
    waiting |= 1U << lane;
    queued += packet.wire;
    most_queued = std::max(most_queued, queued);
  }

  // What waits leaves as far as it may before `until`; control goes first.
  [[gnu::always_inline]] void SendWaiting(std::int64_t until) {
    while (busy_until < until) {
      const unsigned ready = waiting & open;
      if (ready == 0) return;
      const unsigned lane = ready >> 1;
      PacketQueue& queue = queues[lane];
      const std::uint32_t id = queue.head;
      Packet& packet = shard.packets_[id];
      queue.head = packet.next;
      shard.packets_.Prefetch(queue.head);
      const unsigned emptied = queue.head == PacketPool::kNone ? 1U : 0U;
      waiting &= ~(emptied << lane);
      queued -= packet.wire;
      Send(packet, id, busy_until);
    }
  }

  // The first bit of a packet leaves at `now`.
  [[gnu::always_inline]] void Send(Packet& packet, std::uint32_t id, std::int64_t now) {
    if constexpr (!kLossy) {
      if (held.bytes != 0) [[likely]]
        shard.Release(at, held);
      // A PAUSE has taken no room.
      const std::uint16_t bytes = packet.kind < PacketKind::kPause ? packet.wire : std::uint16_t{0};
      held = {packet.ingress, bytes, packet.ingress_class};
    }
    if (queued > shard.unobserved_) [[unlikely]] {
      Store();
      shard.ObserveAt(link, id, now);
    }
    const std::uint32_t wire = packet.wire;
    const std::int64_t end = port.byte_time != 0
                                 ? now + std::int64_t{wire} * port.byte_time
                                 : shard.plant_.details[link].wire.Advance(now, busy_until, wire);
    busy_until = end;
    wire_bytes += wire;
    ++packets;
    last_wire = wire;
    ++shard.hops_[static_cast<std::size_t>(packet.kind)];
    packet.ready = end + (port.delay != kNoIndex ? port.delay : shard.cables_[link].delay);
    if (to == Shard::kToEnd) {
      shard.ComeTo(link, id);
      return;
    }
    packet.next = PacketPool::kNone;
    if constexpr (kSource) {
      if (shard.to_switch_[link] != kNoIndex) packet.next = shard.PeekNextLink(packet, kNoIndex);
    }
    if (to == Shard::kToShard) [[unlikely]] {
      shard.Export(link, id, packet.ready);
    } else {
      shard.queue_.Push(PacketEvent::Make(packet.ready, PacketEventKind::kArrival, link, id), to);
    }
  }

  Shard& shard;
  const std::uint32_t link;
  const std::uint32_t to;
  Port& port;
  Switch& at;
  PacketQueue* const queues;
  const unsigned open;  // a bit for each class that is not paused
  unsigned waiting;
  std::uint32_t queued;
  std::uint32_t most_queued;
  std::int64_t busy_until;
  const std::int64_t wire_bytes_before;
  std::int64_t wire_bytes;
  std::uint64_t packets;
  Charge held;
  std::uint32_t last_wire = 0;  // of the last packet that has left
};

// What a packet meets as its first bit leaves at `now`.
template <typename Queue, bool kFused>
[[gnu::noinline]] void Shard<Queue, kFused>::ObserveAt(std::uint32_t link, std::uint32_t id,
                                                       std::int64_t now) {
  const std::int64_t present = std::exchange(now_, now);
  Observe(ports_[link], link, id);
  now_ = present;
}

template <typename Queue, bool kFused>
template <bool kLossy, bool kSource>
void Shard<Queue, kFused>::Pass(std::uint32_t link, std::span<const PacketEvent> arrivals,
                                std::int64_t until) {
  Passage<Shard, kLossy, kSource> passage(*this, link);
  for (const PacketEvent& event : arrivals) {
    passage.SendWaiting(event.time + 1);
    passage.Arrive(event);
  }
  passage.SendWaiting(until);
  Port& port = passage.port;
  if constexpr (kLossy) {
    // What has come is counted for all ports at once, and what left last still holds its room.
    if (passage.last_wire != 0) {
      const std::int64_t sent = passage.wire_bytes - passage.wire_bytes_before;
      passage.at.used -= port.held.bytes + sent - passage.last_wire;
      passage.held.bytes = static_cast<std::uint16_t>(passage.last_wire);
    }
  }
  passage.Store();
  plant_.max_queue_bytes[link] = passage.most_queued;
  if (passage.waiting == 0) {
    due_[link] &= static_cast<std::uint8_t>(~kDue);
  } else if (passage.busy_until >= until) {
    SetDue(link);
  }
}

// A port goes on to `until`, given what comes in for it until then, in order.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::RunPort(std::uint32_t link, std::span<const PacketEvent> arrivals,
                                   std::int64_t until) {
  if (lossy_ && source_routed_) {
    Pass<true, true>(link, arrivals, until);
  } else if (lossy_) {
    Pass<true, false>(link, arrivals, until);
  } else if (source_routed_) {
    Pass<false, true>(link, arrivals, until);
  } else {
    Pass<false, false>(link, arrivals, until);
  }
}

}  // namespace trunkline
