#pragma once

#include <string>

#include "report/json_writer.h"
#include "report/table.h"
#include "trunkline/scenario/result.h"

// The window of a run that was run again as packets. REQUIRES: result.window is set.
namespace trunkline {

// The labels of the run's tasks: "dp reduce_scatter".
[[nodiscard]] std::string TaskLabelOf(const RunResult& result, std::uint16_t label);

[[nodiscard]] std::string WindowHeading(const RunResult& result);
[[nodiscard]] Table WindowTable(const RunResult& result);
// What the window says of the whole, a sentence a line.
[[nodiscard]] std::vector<std::string> WindowFindings(const RunResult& result);
void WriteWindow(JsonWriter& json, const RunResult& result);

}  // namespace trunkline
