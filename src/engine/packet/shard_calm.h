#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "engine/packet/calm_window.h"
#include "engine/packet/shard.h"

// Switches where outputs do not matter to each other within a window. That is so while there is
// room for all that comes in, so that whatever comes is let in, while nobody is told to pause, and
// where packets do not choose their outputs by how long queues are. What comes in a window is then
// dealt out to its outputs, and these go through the window one after the other (shard_passing.h).
namespace trunkline {

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::FindCalm() {
  // One class of data and one of control: several of data would take turns.
  calm_ = ends_apart_ && catch_up_ && classes_ == 2 && control_ == 1 && !guided_ &&
          (source_routed_ || sprays_);
  if (!calm_) return;
  CalmWindow& window = coming_;
  window.place.resize(plant_.ports.size());
  std::uint32_t most = 0;
  for (const Switch& at : plant_.switches) {
    most = std::max(most, at.port_count);
    for (std::uint32_t i = 0; i < at.port_count; ++i) {
      window.place[plant_.switch_ports[at.first_port + i]] = i;
    }
  }
  window.outputs.resize(most);
  window.used.resize(most / 64 + 1);
}

// Arrivals by one link are in order already, and all are by parts of the window.
inline void SortArrivals(std::span<PacketEvent> arrivals) {
  constexpr std::size_t kFew = 24;
  if (arrivals.size() > kFew) {
    std::ranges::sort(arrivals, std::less<>());
    return;
  }
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const PacketEvent event = arrivals[i];
    std::size_t j = i;
    for (; j > 0 && event < arrivals[j - 1]; --j) arrivals[j] = arrivals[j - 1];
    arrivals[j] = event;
  }
}

// Has today's arrivals go through a switch that is calm; how many these were. What else happens in
// the window is left.
template <typename Queue, bool kFused>
std::uint64_t Shard<Queue, kFused>::RunCalm()
  requires kFused
{
  const std::uint32_t zone = queue_.zone();
  if (!calm_ || zone == Queue::kEverywhere || queue_.empty()) return 0;
  const std::span<PacketEvent> events = queue_.today();
  // Places are counted in 16 bits.
  if (events.size() > UINT16_MAX) return 0;
  const std::optional<std::size_t> others = CountByOutput(zone, events);
  // Where ends are another shard's than their switch, nothing comes to it here, and it is not
  // looked at.
  if (others == events.size()) return 0;
  Switch& at = switches_[zone];
  if (!others || at.exact || !HasRoomFor(at, events.subspan(*others))) {
    ForEachUsed([](std::uint32_t, CalmWindow::Output& output) { output = {}; });
    return 0;
  }
  const std::span<PacketEvent> arrivals = events.subspan(*others);
  DealOut(at, events, *others);
  if (lossy_) at.used += coming_.bytes;
  std::size_t begin = 0;
  ForEachUsed([&](std::uint32_t place, CalmWindow::Output& output) {
    const std::size_t end = output.back();
    const auto own = std::span(coming_.dealt).subspan(begin, end - begin);
    SortArrivals(own);
    RunPort(plant_.switch_ports[at.first_port + place], own, queue_.until());
    begin = end;
    output = {};
  });
  ++calm_windows_;
  events_ += arrivals.size();
  queue_.Leave(*others);
  return arrivals.size();
}

// Calls function(place, output) for every output that anything comes to, and forgets which.
template <typename Queue, bool kFused>
template <typename Function>
void Shard<Queue, kFused>::ForEachUsed(Function function) {
  for (std::uint32_t word = 0; word < coming_.used.size(); ++word) {
    for (std::uint64_t bits = std::exchange(coming_.used[word], 0); bits != 0; bits &= bits - 1) {
      const auto place = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      function(place, coming_.outputs[place]);
    }
  }
}

// By which links packets leave a switch that sprays them.
struct NextOutput {
  PortTable::Row row;
  const Destination* destinations = nullptr;
  std::uint32_t multiplier = 1;

  // kNoIndex: it takes a closer look.
  [[nodiscard, gnu::always_inline]] std::uint32_t Of(const Packet& packet) const {
    if (packet.next != PacketPool::kNone) return packet.next;
    if (destinations == nullptr) return kNoIndex;
    const Home& to = destinations[packet.queue_pair].Of(packet);
    if (to.count != 1) return kNoIndex;
    return PortTable::Spray(row.Ports(to.group), multiplier, packet.path, to.last_link);
  }
};

// Counts today's arrivals by their outputs, and has whatever else there is precede them: how many
// of that. None if something is among it that may act on the switch.
template <typename Queue, bool kFused>
std::optional<std::size_t> Shard<Queue, kFused>::CountByOutput(std::uint32_t zone,
                                                               std::span<PacketEvent> events)
  requires kFused
{
  CalmWindow& window = coming_;
  if (window.cell.size() < events.size()) window.cell.resize(2 * events.size());
  // Known to the compiler not to change.
  std::uint32_t* const cells = window.cell.data();
  const std::uint32_t* const places = window.place.data();
  CalmWindow::Output* const outputs = window.outputs.data();
  std::uint64_t* const used = window.used.data();
  const typename Queue::Parts parts = queue_.parts();
  const Port* const ports = ports_;
  const bool large = large_;
  NextOutput next;
  if (sprays_) {
    next = {port_table_->RowOf(zone), destinations_->data(), switches_[zone].multiplier};
  }
  std::size_t others = 0;
  std::int64_t bytes = 0;
  std::int64_t last = last_event_;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const PacketEvent event = events[i];
    if (event.kind() != PacketEventKind::kArrival) [[unlikely]] {
      // Timers and posts are of endpoints.
      if (event.kind() < PacketEventKind::kTimeout) return std::nullopt;
      cells[i] = cells[others];
      std::swap(events[i], events[others++]);
      continue;
    }
    const Packet& packet = packets_[event.payload()];
    const bool spoilt = (packet.flags & Packet::kSpoilt) != 0;
    if (spoilt | (packet.kind >= PacketKind::kPause)) [[unlikely]]
      return std::nullopt;
    std::uint32_t out = next.Of(packet);
    if (out == kNoIndex) [[unlikely]]
      out = PeekNextLink(packet, zone);
    if (large) {
      __builtin_prefetch(&ports[out], 1);
      __builtin_prefetch(&queues_[QueueOf(out, 0)], 1);
      __builtin_prefetch(&plant_.max_queue_bytes[out], 1);
      __builtin_prefetch(&leads_to_[out]);
      if (ingress_ != nullptr) __builtin_prefetch(&ingress_[QueueOf(event.entity(), 0)], 1);
      if (source_routed_) __builtin_prefetch(&plant_.path_links[packet.path + packet.hop]);
    }
    const std::uint32_t place = places[out];
    const std::uint32_t part = parts.Of(event.time);
    cells[i] = place * Queue::kWindowParts + part;
    CalmWindow::Output& output = outputs[place];
    ++output[part];
    bytes += packet.wire;
    used[place / 64] |= std::uint64_t{1} << (place % 64);
    last = std::max(last, event.time);
  }
  window.bytes = bytes;
  last_event_ = last;
  return others;
}

// Whether a switch has room for all of these, however few leave meanwhile.
template <typename Queue, bool kFused>
bool Shard<Queue, kFused>::HasRoomFor(const Switch& at,
                                      std::span<const PacketEvent> arrivals) const {
  const std::int64_t bytes = coming_.bytes;
  const std::int64_t used = at.used + bytes;
  const std::int64_t left = at.pool - used;
  if (left < 0) return false;
  if (lossy_) {
    const auto has_room = [&](std::int64_t queue) {
      return queue <= queue_limit_ &&
             static_cast<double>(queue) <= egress_alpha_ * static_cast<double>(left);
    };
    // No queue is longer than all that a switch holds.
    if (has_room(used)) return true;
    for (std::uint32_t i = 0; i < at.port_count; ++i) {
      const Port& port = ports_[plant_.switch_ports[at.first_port + i]];
      if (!has_room(port.queued_bytes + bytes)) return false;
    }
    return true;
  }
  if (at.in_headroom != 0) return false;
  const auto has_room = [&](std::int64_t shared) { return shared * kAlphaOne <= alpha_ * left; };
  return has_room(used) || std::ranges::all_of(arrivals, [&](const PacketEvent& event) {
           const Packet& packet = packets_[event.payload()];
           const Ingress& ingress = ingress_[QueueOf(event.entity(), packet.traffic_class)];
           return has_room(ingress.used + bytes - reserved_);
         });
}

// Puts arrivals, all but the first `others`, behind each other by their outputs, and those of an
// output by the parts of the window that they come in.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::DealOut(const Switch& at, std::span<const PacketEvent> events,
                                   std::size_t others)
  requires kFused
{
  static_assert(std::endian::native == std::endian::little && Queue::kWindowParts == 8);
  CalmWindow& window = coming_;
  if (window.dealt.size() < events.size()) window.dealt.resize(2 * events.size());
  std::uint64_t begin = 0;
  for (std::uint32_t word = 0; word < window.used.size(); ++word) {
    for (std::uint64_t bits = window.used[word]; bits != 0; bits &= bits - 1) {
      const auto place = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      CalmWindow::Output& output = window.outputs[place];
      if (large_) PrefetchFirst(plant_.switch_ports[at.first_port + place]);
      // The place of each part is the number of packets before it; four are added up by one
      // product.
      constexpr std::uint64_t kEach = 0x0001'0001'0001'0001;
      for (std::size_t i = 0; i < Queue::kWindowParts; i += 4) {
        std::uint64_t counts = 0;
        std::memcpy(&counts, &output[i], sizeof counts);
        const std::uint64_t sums = counts * kEach;
        const std::uint64_t places = (sums << 16) + begin * kEach;
        std::memcpy(&output[i], &places, sizeof places);
        begin += sums >> 48;
      }
    }
  }
  PacketEvent* const dealt = window.dealt.data();
  for (std::size_t i = others; i < events.size(); ++i) {
    const std::uint32_t cell = window.cell[i];
    dealt[window.outputs[cell / Queue::kWindowParts][cell % Queue::kWindowParts]++] = events[i];
  }
}

}  // namespace trunkline
