#pragma once

#include <cstdint>
#include <span>
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

struct NewQueuePair {
  std::uint32_t index = 0;
  std::vector<std::uint32_t> links;  // network links of its path, or of one of its paths
};
// Adds a queue pair between two attached devices (NICs or hosts) to a plant. `flow` tells those of
// one pair apart under ECMP. Fails with TL1410 when no path exists.
[[nodiscard]] Result<NewQueuePair> AddQueuePair(Plant& plant, const Router& router,
                                                const NetworkPaths& paths, DeviceId source,
                                                DeviceId destination, std::uint64_t flow);

// From post to delivery of a message that has the idle network to itself: the last packet through a
// pipeline of links, full packets before it.
[[nodiscard]] Time LoneTime(const Plant& plant, std::span<const std::uint32_t> links, Bytes bytes);

// Bucket width and horizon that suit a plant's event queue.
struct QueueShape {
  Time bucket;
  Time horizon;
};
[[nodiscard]] QueueShape ShapeOf(const Plant& plant);

// Room that PFC needs behind an XOFF: what may arrive until the sender has stopped.
[[nodiscard]] Bytes PauseHeadroom(Rate rate, Time delay, Bytes frame);

}  // namespace trunkline
