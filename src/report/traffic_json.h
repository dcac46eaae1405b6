#pragma once

#include "report/json_writer.h"
#include "trunkline/scenario/result.h"

namespace trunkline {

// The keys that only traffic has: flows, what the packet engine counted, load and saturation. null
// where the run has none.
void WriteTrafficFields(JsonWriter& json, const RunResult& result);

}  // namespace trunkline
