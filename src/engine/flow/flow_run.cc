#include "engine/flow/flow_run.h"

#include <utility>

#include "engine/flow/make_timeline.h"

namespace trunkline {

FlowRun::FlowRun(const EngineInput& input, const EngineOptions& options, FlowProblem problem)
    : input_(input), options_(options), problem_(std::move(problem)) {
  auto folded = options.fold && !problem_.rotates() ? Fold(problem_) : std::nullopt;
  folding_ = folded ? *std::move(folded) : Unfolded(problem_);
}

Result<std::unique_ptr<FlowRun>> FlowRun::Make(const EngineInput& input,
                                               const EngineOptions& options) {
  auto problem = BuildFlowProblem(input, options.handshake, options.fold);
  if (!problem) return std::unexpected(problem.error());
  auto run = std::unique_ptr<FlowRun>(new FlowRun(input, options, *std::move(problem)));
  std::vector<char> withdrawn(run->problem_.patterns.size(), options.memo ? 0 : 1);
  for (;;) {
    run->runner_ =
        std::make_unique<TaskRunner>(input, options, run->problem_, run->folding_, withdrawn);
    const auto status = run->runner_->Run();
    if (!status) return std::unexpected(status.error());
    run->status_ = *status;
    if (run->runner_->to_withdraw().empty() || *status == RunStatus::kInterrupted) return run;
    for (const std::uint32_t pattern : run->runner_->to_withdraw()) withdrawn[pattern] = 1;
  }
}

Result<Timeline> FlowRun::MakeTimeline() const {
  return trunkline::MakeTimeline(input_, options_, problem_, folding_, *runner_, status_);
}

}  // namespace trunkline
