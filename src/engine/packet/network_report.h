#pragma once

#include "engine/packet/plant.h"
#include "engine/packet/shard_set.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// What a run took of the network until `end`: events, counters, links and pauses. REQUIRES: the
// shards have caught up.
void ReportNetwork(const Plant& plant, const ShardSet& shards, Time end, PacketReport& report);

// Fails unless nothing waits in any buffer, and no input is charged for anything but what its
// switch's ports have not told that they have sent. REQUIRES: nothing is left to happen.
void CheckIsEmpty(const Plant& plant);

}  // namespace trunkline
