#pragma once

#include <optional>

#include "engine/cuts.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// When RunAnalytic's timeline ends, without the timeline: for who tries many steps on one fabric.
// Nothing for a run that does not finish. `cuts`: of the input's router. Errors: as RunAnalytic.
[[nodiscard]] Result<std::optional<Time>> AnalyticTime(const EngineInput& input,
                                                       const EngineOptions& options,
                                                       const FabricCuts& cuts);

}  // namespace trunkline
