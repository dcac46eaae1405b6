#pragma once

#include <string>

#include "report/table.h"
#include "trunkline/scenario/result.h"

namespace trunkline {

// "Over 5 seeds, 1 to 5; the rest is of the first".
[[nodiscard]] std::string RepeatHeading(const RepeatResult& repeat);
// Mean, confidence interval, least and most of each figure.
[[nodiscard]] Table RepeatTable(const RepeatResult& repeat);

}  // namespace trunkline
