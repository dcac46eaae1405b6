#pragma once

#include <span>
#include <string>

#include "report/json_writer.h"

namespace trunkline {

// The keys that every result has, of one that simulated nothing; `assumptions` are those of the
// fabric.
void WriteEmptyRun(JsonWriter& json, std::span<const std::string> assumptions = {});

}  // namespace trunkline
