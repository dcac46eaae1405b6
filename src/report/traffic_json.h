#pragma once

#include "report/json_writer.h"
#include "trunkline/engine/packet.h"
#include "trunkline/scenario/result.h"

namespace trunkline {

// What the packet engine counted; nullptr: another engine ran.
[[nodiscard]] const PacketCounters* CountersOf(const RunResult& result);

// `key` with mean and percentiles; null where there are no values.
void WritePercentiles(JsonWriter& json, const char* key, const Percentiles& values);

// From `drops` to `link_hops`.
void WriteCounters(JsonWriter& json, const PacketCounters& counters);

// The keys that only traffic or packets have: flows, what the packet engine counted, load and
// saturation. null where the run has none.
void WriteTrafficFields(JsonWriter& json, const RunResult& result);

}  // namespace trunkline
