#pragma once

#include <cstdint>
#include <vector>

#include "engine/packet/plant.h"
#include "fabric/network_paths.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// The plant of a fabric under a switch model, transport and routing, without queue pairs yet.
// REQUIRES: the options have been checked (CheckPacketOptions).
[[nodiscard]] Plant BuildPlant(const Router& router, const NetworkPaths& paths,
                               const SwitchModel& switches, const PacketTransport& transport);

// Adds a queue pair between two attached devices (NICs or hosts) to a plant; returns its index.
// `flow` tells those of one pair apart under ECMP. Fails with TL1410 when no path exists.
[[nodiscard]] Result<std::uint32_t> AddQueuePair(Plant& plant, const Router& router,
                                                 const NetworkPaths& paths, DeviceId source,
                                                 DeviceId destination, std::uint64_t flow);

// Bucket width and horizon that suit a plant's event queue.
struct QueueShape {
  Time bucket;
  Time horizon;
};
[[nodiscard]] QueueShape ShapeOf(const Plant& plant);

// Room that PFC needs behind an XOFF: what may arrive until the sender has stopped.
[[nodiscard]] Bytes PauseHeadroom(Rate rate, Time delay, Bytes frame);

}  // namespace trunkline
