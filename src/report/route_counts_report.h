#pragma once

#include <string>

#include "report/json_writer.h"
#include "trunkline/report/fabric_report.h"

// How many destinations forwarding tables send by each port, as text (the fullest ports) and as the
// field `routes` of a fabric's JSON document (all of them; null without tables).
namespace trunkline {

[[nodiscard]] std::string RoutesText(const Fabric& fabric, const RoutingProof& routing);
void WriteRoutes(JsonWriter& json, const Fabric& fabric, const RoutingProof& routing);

}  // namespace trunkline
