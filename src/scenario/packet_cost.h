#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trunkline/engine/engine.h"
#include "trunkline/transport/packet_transport.h"

// What a run of the packet engine will cost, said before it begins.
namespace trunkline {

// What the engine does in a second on one core (docs/performance.md).
inline constexpr double kPacketHopsPerSecond = 10e6;

// "about 3.2 million packet-hops: 0.3 s at 10 million a second".
[[nodiscard]] std::string PacketCost(double hops, std::uint32_t runs);

// Packets times the network links that they cross, as flows take them.
[[nodiscard]] double HopsOf(std::span<const LinkUse> links, const Fabric& fabric,
                            const PacketTransport& transport);
// The same of a task graph, as fluid flows have it; 0 where
// those fail, which the packet engine will then explain.
[[nodiscard]] double ExpectedHops(const EngineInput& input, const PacketTransport& transport,
                                  const StopToken* stop);

}  // namespace trunkline
