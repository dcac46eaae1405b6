#pragma once

#include <string>

#include "report/json_writer.h"
#include "trunkline/scenario/result.h"

namespace trunkline {

// Where the samples of a run are and how many there are. REQUIRES: result.samples.
void WriteSamples(JsonWriter& json, const RunResult& result);

// What links and flows did in each interval, for the report's page. REQUIRES: result.samples.
[[nodiscard]] std::string SeriesJson(const RunResult& result);

}  // namespace trunkline
