#pragma once

#include "trunkline/base/diagnostics.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// What of a workload cannot run as packets, the first of each kind: ranks without a place (TL1600),
// a traffic class that switches have not (TL1816), a message of more packets than numbers
// (TL1817), one that stays inside a node (TL1818).
[[nodiscard]] Diagnostics CheckPacketTraffic(const PacketInput& input,
                                             const TrafficWorkload& traffic,
                                             const Placement& placement);

}  // namespace trunkline
