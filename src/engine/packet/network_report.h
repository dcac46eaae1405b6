#pragma once

#include "engine/packet/plant.h"
#include "engine/packet/shard_set.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// What a run took of the network until `end`: events, counters, links and pauses. REQUIRES: the
// shards have caught up.
void ReportNetwork(const Plant& plant, const ShardSet& shards, Time end, PacketReport& report);

}  // namespace trunkline
