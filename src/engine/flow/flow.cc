#include "engine/flow/flow_run.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

Result<Timeline> RunFlow(const EngineInput& input, const EngineOptions& options) {
  const auto run = FlowRun::Make(input, options);
  if (!run) return std::unexpected(run.error());
  return (*run)->MakeTimeline();
}

}  // namespace trunkline
