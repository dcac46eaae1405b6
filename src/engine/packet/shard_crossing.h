#pragma once

#include "engine/packet/shard.h"

namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Export(std::uint32_t link, std::uint32_t id, std::int64_t arrival) {
  Outbox& outbox = outboxes_[side_][ports_[link].to_shard];
  packets_[id].ingress = link;
  outbox.packets.push_back(packets_[id]);
  // Another core has read what was written here in an earlier window.
  if (outbox.packets.size() < outbox.packets.capacity()) {
    __builtin_prefetch(outbox.packets.data() + outbox.packets.size(), 1);
  }
  if (cut_through_) outbox.heads.push_back(arrival);
  if (!telemetry_.empty()) outbox.telemetry.push_back(telemetry_[id]);
  outbox.Note(arrival);
  packets_.Give(id);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Signal(std::uint32_t shard, std::uint32_t what, Time soonest) {
  Outbox& outbox = outboxes_[side_][shard];
  outbox.signals.push_back({now_, what});
  outbox.Note(soonest.ps());
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Import(Outbox& from) {
  for (std::size_t i = 0; i < from.packets.size(); ++i) {
    const std::uint32_t id = packets_.Take();
    Packet& packet = packets_[id];
    packet = from.packets[i];
    if (!from.telemetry.empty()) {
      if (id >= telemetry_.size()) telemetry_.resize(id + id / 2 + 1);
      telemetry_[id] = from.telemetry[i];
    }
    const std::int64_t arrival = from.heads.empty() ? packet.ready : from.heads[i];
    if (leads_to_[packet.ingress] == kToEnd) {
      ComeTo(packet.ingress, id);
      if (ahead_.on) {
        ahead_.ready.push_back(packet.ingress ^ 1U);
      } else {
        WakeZone(packet.ingress ^ 1U, arrival);
      }
      continue;
    }
    queue_.Push(PacketEvent::Make(arrival, PacketEventKind::kArrival, packet.ingress, id),
                ZoneTo(packet.ingress));
  }
  for (const auto& credit : from.credits) {
    NoteReturn(credit.link, credit.traffic_class, credit.bytes, credit.time);
  }
  for (const auto& signal : from.signals) {
    application_.OnSignal(signal.what, Time::Picoseconds(signal.time));
  }
  from.Clear();
}

}  // namespace trunkline
