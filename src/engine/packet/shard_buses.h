#pragma once

#include "engine/packet/shard.h"

// The buses between memory and NICs: servers of payload bytes, shared by the queue pairs whose
// packets cross them and by nobody else. They cost a packet no hop.
//
// A bus moves a packet while its bits leave or come in, so that it delays only what it cannot move
// as fast. Senders take turns: one whose packet has to wait for a bus has its place there.
namespace trunkline {

// Whether a packet of a queue pair has crossed the buses of its sender; else the sender's pace has
// it wait until it will have.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::HasCrossed(std::uint32_t index, std::uint32_t payload) {
  BusPath& path = plant_.bus_paths[index];
  if (!path.placed) {
    std::int64_t begin = now_;
    for (std::uint32_t i = path.first; i < path.first + path.sending; ++i) {
      Bus& bus = plant_.buses[plant_.bus_list[i]];
      begin = std::max(begin, bus.free_at);
      bus.free_at = bus.wire.Advance(begin, bus.free_at, payload);
    }
    path.placed = true;
    path.place = begin;
  }
  Sender& sender = plant_.senders[index];
  sender.next_send = std::max(sender.next_send, path.place);
  return path.place <= now_;
}

// A data packet that came in by `link` is on its way to memory; false: it is there.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::IsCrossing(std::uint32_t link, std::uint32_t id) {
  Packet& packet = packets_[id];
  BusPath& path = plant_.bus_paths[packet.queue_pair];
  std::int64_t there = now_;
  const std::uint32_t first = path.first + path.sending;
  for (std::uint32_t i = first; i < first + path.receiving; ++i) {
    Bus& bus = plant_.buses[plant_.bus_list[i]];
    const std::int64_t begin = std::max(bus.free_at, now_ - bus.wire.Duration(packet.payload));
    bus.free_at = bus.wire.Advance(begin, bus.free_at, packet.payload);
    there = std::max(there, bus.free_at);
  }
  if (there == now_) return false;
  if (!HasRoom(link, packet)) {
    Drop(id);
    return true;
  }
  packet.ingress = link;
  packet.next = PacketPool::kNone;
  if (path.queue.head == PacketPool::kNone) {
    path.queue.head = id;
  } else {
    packets_[path.queue.tail].next = id;
  }
  path.queue.tail = id;
  queue_.Push(PacketEvent::Make(there, PacketEventKind::kTimeout, packet.queue_pair, kBusPass));
  return true;
}

// Room in a NIC for what its buses have not taken yet. Credits see to it by themselves; a NIC under
// PFC pauses its switch in time, and any other drops what finds none.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::HasRoom(std::uint32_t link, const Packet& packet) {
  Nic& nic = plant_.nics[plant_.ports[link ^ 1U].nic];
  const bool drops = !credits_ && plant_.ingress.empty();
  if (drops && nic.backlog + packet.wire > Nic::kRoom) return false;
  nic.backlog += packet.wire;
  if (plant_.ingress.empty() || nic.backlog <= Nic::kRoom / 2) return true;
  Ingress& ingress = plant_.ingress[plant_.QueueOf(link, packet.ingress_class)];
  if (ingress.paused) return true;
  ingress.paused = 1;
  ++ingress.pauses;
  SendPause(link, packet.ingress_class, true);
  return true;
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::FreeRoom(std::uint32_t link, const Packet& packet) {
  Nic& nic = plant_.nics[plant_.ports[link ^ 1U].nic];
  nic.backlog -= packet.wire;
  if (plant_.ingress.empty() || nic.backlog > Nic::kRoom / 4) return;
  for (std::uint32_t c = 0; c < control_; ++c) {
    Ingress& ingress = plant_.ingress[plant_.QueueOf(link, c)];
    if (!ingress.paused) continue;
    ingress.paused = 0;
    SendPause(link, c, false);
  }
}

// The oldest packet of a queue pair that is on its way to memory is there.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::EndCrossing(std::uint32_t index) {
  BusPath& path = plant_.bus_paths[index];
  const std::uint32_t id = path.queue.head;
  path.queue.head = packets_[id].next;
  const std::uint32_t link = packets_[id].ingress;
  FreeRoom(link, packets_[id]);
  if (credits_) ReturnCredit(packets_[id], link, now_);
  ReceiveData(link, id);
}

}  // namespace trunkline
