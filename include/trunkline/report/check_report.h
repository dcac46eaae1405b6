#pragma once

#include <optional>
#include <string>

#include "trunkline/fabric/build.h"
#include "trunkline/fabric/check.h"
#include "trunkline/scenario/collective_times.h"

// What `trunkline fabric check` prints. Pure functions; texts end with a newline.
namespace trunkline {

// The fabric found and as it should be, run alike.
struct CheckCost {
  CollectiveTimes found;
  CollectiveTimes mended;
};

[[nodiscard]] std::string RenderCheckText(const BuiltFabric& built, const FabricCheck& check,
                                          const std::optional<CheckCost>& cost);
[[nodiscard]] std::string RenderCheckJson(const BuiltFabric& built, const FabricCheck& check,
                                          const std::optional<CheckCost>& cost);

}  // namespace trunkline
