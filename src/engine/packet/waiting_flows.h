#pragma once

#include "engine/packet/plant.h"
#include "engine/packet/queue_pair_pool.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// Whether anything of a flow is left to do: an acknowledgement on its way is not.
[[nodiscard]] bool IsUndelivered(const FlowRecord& record);

// Adds to what is stuck the flows that neither ended nor failed, with what each waits for.
void AddWaiting(const Fabric& fabric, const Plant& plant, const QueuePairPool& queue_pairs,
                const TrafficWorkload& traffic, PacketReport& report);

}  // namespace trunkline
