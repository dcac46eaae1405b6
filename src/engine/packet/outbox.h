#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/packet/packet.h"
#include "engine/packet/plant.h"

namespace trunkline {

// What leaves a shard for another during a window.
struct alignas(64) Outbox {
  struct Return {
    std::int64_t time = 0;
    std::uint32_t link = 0;
    std::uint32_t bytes = 0;
    std::uint8_t traffic_class = 0;
  };
  // What the application of the other shard hears of.
  struct Signal {
    std::int64_t time = 0;
    std::uint32_t what = 0;
  };
  std::vector<Packet> packets;  // each with its link as `ingress`; it arrives when it is ready …
  std::vector<std::int64_t> heads;   // … or, where packets cut through, at this time
  std::vector<Telemetry> telemetry;  // of the packets, when the policy needs it
  std::vector<Return> credits;
  std::vector<Signal> signals;
  std::int64_t first = kNever;  // when the first of all of it comes

  void Note(std::int64_t time) { first = std::min(first, time); }
  void Clear() {
    packets.clear();
    heads.clear();
    telemetry.clear();
    credits.clear();
    signals.clear();
    first = kNever;
  }
};

}  // namespace trunkline
