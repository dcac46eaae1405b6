#include <utility>

#include "engine/flow/fold.h"
#include "engine/flow/make_timeline.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_runner.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

Result<Timeline> RunFlow(const EngineInput& input, const EngineOptions& options) {
  auto problem = BuildFlowProblem(input, options.fold);
  if (!problem) return std::unexpected(problem.error());
  auto folded = options.fold && !problem->rotates() ? Fold(*problem) : std::nullopt;
  const Folding folding = folded ? *std::move(folded) : Unfolded(*problem);
  std::vector<char> withdrawn(problem->patterns.size(), options.memo ? 0 : 1);
  for (;;) {
    TaskRunner runner(input, options, *problem, folding, withdrawn);
    auto status = runner.Run();
    if (!status) return std::unexpected(status.error());
    if (runner.to_withdraw().empty() || *status == RunStatus::kInterrupted) {
      return MakeTimeline(input, options, *problem, folding, runner, *status);
    }
    for (const std::uint32_t pattern : runner.to_withdraw()) withdrawn[pattern] = 1;
  }
}

}  // namespace trunkline
