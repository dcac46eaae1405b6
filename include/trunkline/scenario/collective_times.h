#pragma once

#include <memory>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// What a fabric makes of two collectives over all endpoints, packed, with InfiniBand's costs.
struct CollectiveTimes {
  Time all_to_all;
  Time ring;  // AllReduce
};

// Of a rank, so large that rates decide and not latencies, which a ring pays for rank by rank.
inline constexpr Bytes kAllToAllBytes(std::int64_t{256} << 20);
inline constexpr Bytes kRingBytes(std::int64_t{4} << 30);

// Runs both in the flow engine.
[[nodiscard]] Result<CollectiveTimes> TimeCollectives(
    const std::shared_ptr<const BuiltFabric>& built, RoutingPolicy routing,
    ProgressSink* progress = nullptr, const StopToken* stop = nullptr);

}  // namespace trunkline
