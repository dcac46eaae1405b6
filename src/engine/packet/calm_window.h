#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/packet/calendar_queue.h"

namespace trunkline {

// What comes to a switch in a window, by its outputs: see shard_calm.h.
struct CalmWindow {
  // Of one output: how many packets come in each part of the window, then where the next of a part
  // goes among all packets.
  using Output = std::array<std::uint16_t, CalendarQueue::kWindowParts>;
  std::vector<std::uint32_t> place;  // by link: which output of its switch it is
  std::vector<Output> outputs;       // by place
  std::vector<std::uint64_t> used;   // a bit for each place that anything comes to
  std::vector<std::uint32_t> cell;   // by arrival: part of an output
  std::vector<PacketEvent> dealt;    // arrivals by output, and roughly in order
  std::int64_t bytes = 0;            // of all
};

}  // namespace trunkline
