#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/coupled/coupled_run.h"
#include "engine/flow/fold.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_run.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// A run of a task graph as packets, kept to be asked when any task of any rank ran.
class PacketRun {
 public:
  // Runs to the end; the inputs and the options outlive the result. Fails as RunPacket does.
  static Result<std::unique_ptr<PacketRun>> Make(const EngineInput& input,
                                                 const PacketInput& packets,
                                                 const EngineOptions& options);

  [[nodiscard]] RunStatus status() const { return status_; }
  [[nodiscard]] const FlowProblem& problem() const { return problem_; }
  [[nodiscard]] const Folding& folding() const { return folding_; }
  [[nodiscard]] const TaskRun& runner() const { return run_->tasks(); }
  // By task of the rank's program.
  [[nodiscard]] std::span<const TaskTimes> times(RankId rank) const {
    return runner().times(folding_.simulated_rank[Index(rank)]);
  }
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }
  // Of the tasks, network links aside.
  [[nodiscard]] Result<Timeline> MakeTimeline() const;
  // What it took of the network until `end`.
  [[nodiscard]] PacketReport Report(Time end) { return run_->Report(status_, end); }

 private:
  PacketRun(const EngineInput& input, const EngineOptions& options, FlowProblem problem)
      : input_(input), options_(options), problem_(std::move(problem)) {}
  Result<void> Execute(const PacketInput& packets, std::vector<CableChange> faults);

  const EngineInput& input_;
  const EngineOptions& options_;
  FlowProblem problem_;
  Folding folding_;
  Diagnostics warnings_;
  RunStatus status_ = RunStatus::kFinished;
  std::unique_ptr<CoupledRun> run_;
};

}  // namespace trunkline
