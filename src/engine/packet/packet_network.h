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
// REQUIRES: the options have been checked (CheckPacketSettings).
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

// Room that PFC keeps behind the XOFF of each class of a link: as given, or what may arrive until
// its sender has stopped.
[[nodiscard]] Bytes PauseHeadroom(const Fabric& fabric, LinkId link, const SwitchModel& switches,
                                  Bytes frame);
// A switch's whole buffer: as given, or from the rates of its ports.
[[nodiscard]] Bytes SwitchBuffer(const Fabric& fabric, DeviceId at, const SwitchModel& switches);
// What of it is left for all ports to share; negative where it does not hold what is kept for each.
[[nodiscard]] std::int64_t SharedPool(const Fabric& fabric, DeviceId at,
                                      const SwitchModel& switches, Bytes frame);
// Credits that keep a link busy: those of the packets sent until the first packet's come back.
[[nodiscard]] Bytes CreditLoop(const Fabric& fabric, LinkId link, Bytes frame);
// The receive buffer of a virtual lane of a link: as given, or what keeps the link busy.
[[nodiscard]] Bytes LaneBuffer(const Fabric& fabric, LinkId link, const SwitchModel& switches,
                               Bytes frame);

}  // namespace trunkline
