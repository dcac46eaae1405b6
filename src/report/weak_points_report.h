#pragma once

#include <string>

#include "report/json_writer.h"
#include "trunkline/fabric/weak_points.h"

// Where a fabric is thin, as text and as fields of its JSON document.
namespace trunkline {

[[nodiscard]] std::string WeakPointsText(const Fabric& fabric, const WeakPoints& weak);
// `cut` and `cut_links`, within `bisection`: the links by name, at most a thousand.
void WriteCut(JsonWriter& json, const Fabric& fabric, const Cut& cut);
// `most_loaded`, `path_diversity`, `single_points`, `failures`.
void WriteWeakPoints(JsonWriter& json, const Fabric& fabric, const WeakPoints& weak);

}  // namespace trunkline
