#pragma once

#include <memory>
#include <span>

#include "engine/flow/fold.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_runner.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// A run of the flow engine, kept to be asked when any task of any rank ran.
class FlowRun {
 public:
  // Runs to the end. The input and the options outlive the result.
  static Result<std::unique_ptr<FlowRun>> Make(const EngineInput& input,
                                               const EngineOptions& options);

  [[nodiscard]] RunStatus status() const { return status_; }
  [[nodiscard]] const FlowProblem& problem() const { return problem_; }
  [[nodiscard]] const Folding& folding() const { return folding_; }
  [[nodiscard]] const TaskRunner& runner() const { return *runner_; }
  // By task of the rank's program.
  [[nodiscard]] std::span<const TaskTimes> times(RankId rank) const {
    return runner_->times(folding_.simulated_rank[Index(rank)]);
  }
  [[nodiscard]] Result<Timeline> MakeTimeline() const;

 private:
  FlowRun(const EngineInput& input, const EngineOptions& options, FlowProblem problem);

  const EngineInput& input_;
  const EngineOptions& options_;
  FlowProblem problem_;
  Folding folding_;
  RunStatus status_ = RunStatus::kFinished;
  std::unique_ptr<TaskRunner> runner_;
};

}  // namespace trunkline
