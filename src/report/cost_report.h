#pragma once

#include <string>

#include "report/json_writer.h"
#include "trunkline/fabric/cost.h"

namespace trunkline {

// The value of `cost` in a fabric's JSON document.
void WriteCost(JsonWriter& json, const FabricCost& cost);
// "12.34 M USD"; without a currency "12.34 M".
[[nodiscard]] std::string Money(double amount, const std::string& currency);

}  // namespace trunkline
