#pragma once

#include <string>
#include <vector>

#include "trunkline/planner/advise.h"
#include "trunkline/planner/growth.h"

// What `trunkline fabric compare` and `advise` print. Pure functions; texts end with a newline.
namespace trunkline {

// One column a fabric.
[[nodiscard]] std::string RenderComparisonText(const std::vector<FabricTrial>& trials);
// `fabrics`: each as `trunkline fabric --json` has it, then `trials` with the times.
[[nodiscard]] std::string RenderComparisonJson(const std::vector<FabricTrial>& trials);

[[nodiscard]] std::string RenderAdviceText(const AdviceRequest& request, const Advice& advice);
[[nodiscard]] std::string RenderAdviceJson(const AdviceRequest& request, const Advice& advice);

// A line a point, the curve of the price of a GPU drawn beside it.
[[nodiscard]] std::string RenderGrowthText(const Growth& growth);
[[nodiscard]] std::string RenderGrowthJson(const Growth& growth);
// The report's page with the curve. TL1901, as RenderHtml.
[[nodiscard]] Result<std::string> RenderGrowthHtml(const Growth& growth);

}  // namespace trunkline
