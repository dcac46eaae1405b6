#pragma once

#include <cstdint>
#include <vector>

#include "engine/packet/packet.h"
#include "engine/packet/plant.h"

namespace trunkline {

// What leaves a shard for another during a window.
struct Outbox {
  struct Crossing {
    std::int64_t time = 0;
    std::uint32_t link = 0;
    Packet packet;
  };
  struct Return {
    std::int64_t time = 0;
    std::uint32_t link = 0;
    std::uint32_t bytes = 0;
    std::uint8_t traffic_class = 0;
  };
  std::vector<Crossing> packets;
  std::vector<Telemetry> telemetry;  // of the packets, when the policy needs it
  std::vector<Return> credits;
};

}  // namespace trunkline
