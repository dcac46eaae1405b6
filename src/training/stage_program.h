#pragma once

#include <cstdint>
#include <vector>

#include "training/pipeline.h"
#include "training/program_writer.h"
#include "training/rank_grid.h"
#include "training/stage_model.h"
#include "training/step_kernels.h"
#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"
#include "trunkline/training/training.h"

namespace trunkline {

// What all stages of a step share.
struct StepContext {
  const ModelConfig& model;
  const TrainingPlan& plan;
  const KernelModel& kernels;
  const StepKernels& costs;
  const RankGrid& grid;
  CollectiveTable& collectives;
};

struct StageProgram {
  Program program;
  Time compute;   // sum of its compute tasks
  Time forward;   // of that, in forward passes
  Time backward;  // in backward passes
  std::vector<LayerTasks> last_backward;
};

// One step of a pipeline stage, in Megatron-LM's order of work: micro-batches by the schedule,
// gradient reduction, gradient norm, optimizer.
[[nodiscard]] StageProgram WriteStageProgram(const StepContext& context, const Stage& stage,
                                             std::uint32_t stage_index);

}  // namespace trunkline
