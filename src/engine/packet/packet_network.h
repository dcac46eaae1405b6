#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/packet/plant.h"
#include "fabric/network_paths.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// The plant of a fabric under a switch model, transport and routing, without queue pairs yet.
// `cables_fail`: faults will follow. REQUIRES: the options have been checked (CheckPacketSettings).
[[nodiscard]] Plant BuildPlant(const Router& router, const NetworkPaths& paths,
                               const SwitchModel& switches, const PacketTransport& transport,
                               bool cables_fail = false);

// Virtual channels of every data class and of the control class.
struct ChannelCounts {
  std::uint8_t data = 1;
  std::uint8_t control = 1;
};
[[nodiscard]] ChannelCounts ChannelsOf(const Fabric& fabric, RoutingPolicy policy,
                                       const RoutingParameters& parameters,
                                       const SwitchModel& switches, bool cables_fail);
// A switch model whose classes are the virtual channels of its own, class by class.
[[nodiscard]] SwitchModel WithChannels(const SwitchModel& switches, const ChannelCounts& channels);

// Adds a path for kSource, with the virtual channels along it and back.
void AppendPath(Plant& plant, const Fabric& fabric, std::span<const std::uint32_t> links);

// Makes place for queue pairs [0, count), beside those there are, to be set up before each is used.
void ReserveQueuePairs(Plant& plant, std::uint32_t count);

// Sets up queue pair `index` between two attached devices (NICs or hosts); `flow`, the index unless
// given, tells those of one pair apart under ECMP. Returns the network links of its path, or of one
// of its paths. Fails with TL1410 when no path exists.
[[nodiscard]] Result<std::vector<std::uint32_t>> SetUpQueuePair(
    Plant& plant, const Router& router, const NetworkPaths& paths, std::uint32_t index,
    DeviceId source, DeviceId destination, std::optional<std::uint64_t> flow = {});

// Has packets that cross a link inside a node take their time there. REQUIRES: no queue pair is
// reserved, no shard started yet.
void AddBus(Plant& plant, const Fabric& fabric, LinkId link);
// The buses of a queue pair on either side of the network. REQUIRES: they have been added, and the
// queue pair is set up.
void UseBuses(Plant& plant, std::uint32_t queue_pair, std::span<const LinkId> sending,
              std::span<const LinkId> receiving);

// The index of each device among switches, kNoIndex for others.
[[nodiscard]] std::vector<std::uint32_t> IndexSwitches(const Fabric& fabric);
// Of a full packet and its acknowledgement over `links` when they are idle.
[[nodiscard]] Time RoundTripOf(const Plant& plant, std::span<const std::uint32_t> links);

// From post to delivery of a message that has the idle network to itself: the last packet through a
// pipeline of links, full packets before it. With sockets, no less than this: windows that have yet
// to open come on top.
[[nodiscard]] Time LoneTime(const Plant& plant, std::span<const std::uint32_t> links, Bytes bytes);

// From the departure of a read's request to its arrival on the idle path, against `links`.
[[nodiscard]] Time RequestTime(const Plant& plant, std::span<const std::uint32_t> links);

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
