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

// `no_cost`: why the cost of what was found cannot be told; empty where it is, or nothing costs.
[[nodiscard]] std::string RenderCheckText(const BuiltFabric& built, const FabricCheck& check,
                                          const std::optional<CheckCost>& cost,
                                          const std::string& no_cost = {});
[[nodiscard]] std::string RenderCheckJson(const BuiltFabric& built, const FabricCheck& check,
                                          const std::optional<CheckCost>& cost,
                                          const std::string& no_cost = {});

}  // namespace trunkline
