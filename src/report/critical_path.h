#pragma once

#include <string>
#include <vector>

#include "report/json_writer.h"
#include "trunkline/engine/packet.h"
#include "trunkline/scenario/result.h"

// The chain of messages that led to the end of a run as packets, and the queues on its way.
namespace trunkline {

// A sentence each on the chain and on its messages that waited longest; none without a chain.
[[nodiscard]] std::vector<std::string> CriticalPathFindings(const RunResult& result,
                                                            const PacketReport& packets);
void WriteCriticalPath(JsonWriter& json, const RunResult& result, const PacketReport& packets);

}  // namespace trunkline
