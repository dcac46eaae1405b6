#pragma once

#include <memory>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// What a fabric makes of two collectives over all endpoints, packed, with InfiniBand's costs.
struct FabricCost {
  Time all_to_all;
  Time ring;  // AllReduce
};

inline constexpr Bytes kFabricCostBytes(std::int64_t{256} << 20);

// Runs both of kFabricCostBytes in the flow engine.
[[nodiscard]] Result<FabricCost> MeasureFabric(const std::shared_ptr<const BuiltFabric>& built,
                                               RoutingPolicy routing,
                                               ProgressSink* progress = nullptr,
                                               const StopToken* stop = nullptr);

}  // namespace trunkline
