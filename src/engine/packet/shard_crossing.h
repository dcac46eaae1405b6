#pragma once

#include "engine/packet/shard.h"

namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Export(std::uint32_t link, std::uint32_t id, std::int64_t arrival) {
  Outbox& outbox = outboxes_[cables_[link].to_shard];
  outbox.packets.push_back({arrival, link, packets_[id]});
  if (!telemetry_.empty()) outbox.telemetry.push_back(telemetry_[id]);
  packets_.Give(id);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Import(Outbox& from) {
  for (std::size_t i = 0; i < from.packets.size(); ++i) {
    const auto& crossing = from.packets[i];
    const std::uint32_t id = packets_.Take();
    packets_[id] = crossing.packet;
    if (!from.telemetry.empty()) {
      if (id >= telemetry_.size()) telemetry_.resize(id + id / 2 + 1);
      telemetry_[id] = from.telemetry[i];
    }
    queue_.Push(PacketEvent::Make(crossing.time, PacketEventKind::kArrival, crossing.link, id),
                ZoneTo(crossing.link));
  }
  for (const auto& credit : from.credits) {
    NoteReturn(credit.link, credit.traffic_class, credit.bytes, credit.time);
  }
  from.packets.clear();
  from.telemetry.clear();
  from.credits.clear();
}

}  // namespace trunkline
