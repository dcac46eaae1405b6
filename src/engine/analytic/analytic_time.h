#pragma once

#include <optional>

#include "engine/analytic/fabric_costs.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// RunAnalytic for who runs several steps on one fabric: `fabric`, of the input's router and
// transport, keeps what they have in common. Errors: as RunAnalytic.
[[nodiscard]] Result<Timeline> RunAnalytic(const EngineInput& input, const EngineOptions& options,
                                           FabricCosts& fabric);

// When its timeline ends, without the timeline. Nothing for a run that does not finish.
[[nodiscard]] Result<std::optional<Time>> AnalyticTime(const EngineInput& input,
                                                       const EngineOptions& options,
                                                       FabricCosts& fabric);

}  // namespace trunkline
