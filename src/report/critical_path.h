#pragma once

#include <string>
#include <vector>

#include "report/explain.h"
#include "report/json_writer.h"
#include "trunkline/engine/packet.h"
#include "trunkline/scenario/result.h"

// The chain of messages that led to the end of a run as packets, and the queues on its way.
namespace trunkline {

// A sentence each on the chain and on its messages that waited longest; none without a chain.
[[nodiscard]] std::vector<std::string> CriticalPathFindings(const RunResult& result,
                                                            const PacketReport& packets);
// The chain's time put together: idle paths, waiting, and the rest; then the messages that waited
// longest and the queues on their way. None without a chain, or of a run that did not end.
[[nodiscard]] std::vector<Figure> CriticalPathFigures(const RunResult& result,
                                                      const PacketReport& packets);
void WriteCriticalPath(JsonWriter& json, const RunResult& result, const PacketReport& packets);

}  // namespace trunkline
