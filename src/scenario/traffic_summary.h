#pragma once

#include <span>

#include "trunkline/engine/traffic.h"
#include "trunkline/scenario/result.h"
#include "trunkline/scenario/traffic_result.h"

// From what became of each message to the figures that people read.
namespace trunkline {

// Completion times and slowdowns of the measured flows, and whether the network carried them.
[[nodiscard]] TrafficResult SummariseFlows(const TrafficWorkload& traffic,
                                           std::span<const FlowRecord> records);

// A time before which not all messages can have arrived: what each host's own links take for its
// bytes, headers included, and, where it keeps to one path, each message by itself on it.
[[nodiscard]] Time TrafficBound(const TrafficWorkload& traffic, std::span<const FlowRecord> records,
                                const RunResult& result);

}  // namespace trunkline
