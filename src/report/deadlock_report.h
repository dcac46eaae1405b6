#pragma once

#include <string>

#include "report/json_writer.h"
#include "trunkline/report/fabric_report.h"

// Whether routing can deadlock, as text and as the field `deadlock` of a fabric's JSON document.
namespace trunkline {

[[nodiscard]] std::string DeadlockText(const Fabric& fabric, const RoutingProof& routing);
void WriteDeadlock(JsonWriter& json, const Fabric& fabric, const RoutingProof& routing);

}  // namespace trunkline
