#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "engine/packet/shard.h"

// What befalls cables during a run. A cable is two links, and each has two sides that may be in
// different shards: each side changes its own half of LinkHealth when the time comes.
//
// A switch discards what it would send by a port that is down (InfiniBand counts it as
// PortXmitDiscards); a NIC keeps what it has not sent. What was on the cable is lost. Under cut
// through, a frame whose head has come in counts as received.
namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ScheduleFaults() {
  if (!faulty_) return;
  const FaultPlan& plan = *plant_.faults;
  std::uint32_t index = 0;
  for (const CableChange& change : plan.changes) {
    const std::size_t link = Index(change.cable);
    if (cables_[link].from_shard == id_ || ports_[link].to_shard == id_) {
      queue_.PushEverywhere(PacketEvent::Make(change.at.ps(), PacketEventKind::kFault, index));
    }
    ++index;
  }
  for (const FaultPlan::Epoch& epoch : plan.epochs) {
    queue_.PushEverywhere(PacketEvent::Make(epoch.at.ps(), PacketEventKind::kFault, index++));
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::OnFault(std::uint32_t index) {
  const auto& changes = plant_.faults->changes;
  if (index >= changes.size()) {
    MoveRoutes(index - static_cast<std::uint32_t>(changes.size()) + 1);
    return;
  }
  const CableChange& change = changes[index];
  const auto first = static_cast<std::uint32_t>(Index(change.cable));
  for (const std::uint32_t link : {first, first ^ 1U}) {
    if (cables_[link].from_shard == id_) ChangeSending(link, change);
  }
  for (const std::uint32_t link : {first, first ^ 1U}) {
    if (ports_[link].to_shard == id_) ChangeReceiving(link, change);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ChangeSending(std::uint32_t link, const CableChange& change) {
  if ((due_[link] & kDue) != 0) {  // what would begin just now is affected
    --now_;
    CatchUp(link);
    ++now_;
  }
  LinkHealth& health = plant_.health[link];
  health.frame_loss = std::max(change.frame_loss, plant_.switches_model.frame_loss);
  health.bit_errors = change.bit_errors;
  Port& port = ports_[link];
  const Rate rate = link == Index(change.cable) ? change.rate : change.reverse_rate;
  if (plant_.details[link].wire.rate() != rate) plant_.SetRate(link, rate);
  if (change.down == plant_.IsDown(port)) return;
  if (change.down) {
    GoDown(link);
  } else {
    ComeBack(link);
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::GoDown(std::uint32_t link) {
  Port& port = ports_[link];
  ++plant_.health[link].times_down;
  for (std::uint32_t c = 0; c < classes_; ++c) {
    const std::size_t queue = plant_.QueueOf(link, c);
    const auto bit = static_cast<std::uint8_t>(1U << c);
    if (!plant_.pauses.empty() && (port.paused & bit) != 0) {
      plant_.pauses[queue].past += now_ - plant_.pauses[queue].since;
    }
    if (credits_) plant_.lanes[queue].starved = false;
    if ((port.waiting & bit) == 0) continue;
    port.waiting = static_cast<std::uint8_t>(port.waiting & ~bit);
    std::uint32_t id = plant_.queues[queue].head;
    while (id != PacketPool::kNone) {
      const Packet& packet = packets_[id];
      const std::uint32_t next = packet.next;
      const Charge held{packet.ingress, packet.wire, packet.ingress_class};
      const bool charged = port.at_switch != kNoIndex && packet.kind < PacketKind::kPause;
      if (charged && credits_) ReturnCredit(packet, packet.ingress, std::max(now_, packet.ready));
      if (packet.claimed()) plant_.lanes[queue].available += Credits(packet.wire);
      ++counters_.fault_drops;
      Drop(id);
      if (charged && !credits_) Release(switches_[port.at_switch], held);
      id = next;
    }
  }
  port.queued_bytes = 0;
  port.paused = 0xff;
  due_[link] &= static_cast<std::uint8_t>(~kDue);
}

// The cable is there again, with all credits and without a PAUSE.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ComeBack(std::uint32_t link) {
  ports_[link].paused = 0;
  GoOn(link);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::ChangeReceiving(std::uint32_t link, const CableChange& change) {
  LinkHealth& health = plant_.health[link];
  health.rate = link == Index(change.cable) ? change.rate : change.reverse_rate;
  if (std::exchange(health.down, change.down) == change.down) return;
  if (change.down) {
    ++health.heard_down;
    health.last_down = now_;
    return;
  }
  for (std::uint32_t c = 0; c < classes_ && !plant_.ingress.empty(); ++c) {
    if (plant_.ingress[plant_.QueueOf(link, c)].paused) SendPause(link, c, true);
  }
}

// Whether a packet that comes was on its cable when this went down.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::WasCutOff(std::uint32_t link, const Packet& packet) const {
  const LinkHealth& health = plant_.health[link];
  const auto since = static_cast<std::uint16_t>(health.heard_down - packet.times_down);
  if (since == 0) return false;
  // It may have been inside the switch already.
  const std::int64_t last_bit = packet.ready - (cables_[link].delay - cables_[link].latency);
  return since > 1 || last_bit > health.last_down;
}

// A packet that came by `link` is lost; its room in the next buffer was never used.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::LoseOnCable(std::uint32_t link, std::uint32_t id) {
  if (credits_) ReturnCredit(packets_[id], link, packets_[id].ready);
  Drop(id);
}

template <typename Queue, bool kFused>
double Shard<Queue, kFused>::SpoilChance(std::uint32_t link, std::uint32_t wire) const {
  if (!faulty_) return plant_.switches_model.frame_loss;
  const LinkHealth& health = plant_.health[link];
  if (health.bit_errors == 0) return health.frame_loss;
  // No bit of the frame is flipped, and nothing else happens to it.
  const double clean = std::exp(8.0 * wire * std::log1p(-health.bit_errors));
  return 1 - (1 - health.frame_loss) * clean;
}

// --- Routing ------------------------------------------------------------------------------------

// The path of a source-routed queue pair and its length, for the receiver to send against: while
// routes move, the sender is another shard's to look at.
template <typename Queue, bool kFused>
std::pair<std::uint32_t, std::uint32_t> Shard<Queue, kFused>::PathNow(
    std::uint32_t queue_pair) const {
  if (!faulty_) return {plant_.senders[queue_pair].path, plant_.paths[queue_pair].hops};
  const FaultPlan::Move& move = plant_.faults->MoveBy(queue_pair, epoch_);
  return {move.path, move.hops};
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::MoveRoutes(std::uint32_t epoch) {
  const FaultPlan& plan = *plant_.faults;
  epoch_ = epoch;
  const std::uint32_t detour = plan.epochs[epoch - 1].detour;
  port_table_ = detour == kNoIndex ? plant_.port_table.get() : plan.detours[detour]->ports();
  escape_ = detour == kNoIndex ? plant_.escape.get() : plan.detours[detour]->escape();
  groups_ = detour == kNoIndex ? plant_.groups.get() : plan.detours[detour]->groups();
  destinations_ = detour == kNoIndex ? &plant_.destinations : &plan.detours[detour]->destinations;
  for (std::uint32_t i = 0; i < plan.moves.size(); ++i) {
    if (plan.moves[i].empty() || cables_[plan.moves[i].front().link].from_shard != id_) continue;
    MoveSender(i, plan.MoveBy(i, epoch));
  }
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::MoveSender(std::uint32_t index, const FaultPlan::Move& move) {
  Sender& sender = plant_.senders[index];
  if (sender.path == move.path && sender.link == move.link) return;
  sender.path = move.path;
  plant_.paths[index].hops = move.hops;
  plant_.paths[index].base_rtt = move.base_rtt;
  if (sender.link != move.link) {
    Detach(index);
    sender.link = move.link;
  }
  Ready(index);
}

// Takes a sender out of the line at its NIC.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Detach(std::uint32_t index) {
  Sender& sender = plant_.senders[index];
  Nic& nic = plant_.nics[ports_[sender.link].nic];
  if (sender.state == Sender::kPaced) {
    std::erase_if(nic.paced, [&](const Nic::Paced& paced) { return paced.sender == index; });
    std::ranges::make_heap(nic.paced, std::greater<>());
  } else if (sender.state == Sender::kRinging) {
    // To the front of the ring, then out of it: the others keep their order.
    std::uint32_t& ring = nic.rings[sender.traffic_class];
    const std::uint32_t last = ring;
    std::uint32_t before = ring;
    while (plant_.senders[before].next != index) before = plant_.senders[before].next;
    ring = before;
    PopRing(nic, sender.traffic_class);
    if (last != index && ring != kNoIndex) ring = last;
  }
  sender.state = Sender::kIdle;
}

}  // namespace trunkline
