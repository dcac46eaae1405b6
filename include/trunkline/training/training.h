#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

struct Accelerator;

// Bytes on one GPU of a pipeline stage at its peak.
struct StageMemory {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;  // in-flight micro-batches of the schedule
  Bytes other;        // context, communication buffers, logits
  [[nodiscard]] Bytes total() const {
    return weights + gradients + optimizer + activations + other;
  }
};

// One kernel class of a layer on one GPU: what `--explain` prints.
struct KernelCost {
  std::string name;   // "mlp gate+up GEMM forward"
  std::string shape;  // "m=8192 n=7168 k=8192"
  Flops flops;
  Bytes memory_traffic;
  std::optional<double> efficiency;  // of the device's peak; none where only bytes are moved
  bool extrapolated = false;         // outside the measured shapes or on a device without a chart
  Time time;
  std::string source;
};

// The tasks of a layer's backward pass in the last micro-batch, and those that exchange the
// gradient bucket which it completes, if it does: [first, last] of the program.
struct LayerTasks {
  std::uint32_t layer = 0;  // of the model, from 0
  std::uint32_t program = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// What a training step consists of, before any engine runs it.
struct TrainingWorkload {
  std::unique_ptr<TaskGraph> graph;
  ModelConfig model;
  TrainingPlan plan;
  Flops model_flops_per_step;  // causal attention counted half, logits counted, no recompute
  std::int64_t tokens_per_step = 0;
  FlopRate peak_per_gpu;            // the MFU denominator
  std::vector<StageMemory> memory;  // by pipeline stage
  std::vector<Time> stage_compute;  // busy compute time of one step, by stage
  Time forward_compute;             // of that, in forward passes, of all stages
  Time backward_compute;            // in backward passes, recomputation included
  std::vector<KernelCost> kernels;  // of one layer and the head
  std::vector<LayerTasks> last_backward;
  std::vector<std::string> assumptions;
  Diagnostics warnings;
};

// TL1310: mixtures of experts cannot be trained here.
[[nodiscard]] Result<void> CheckDense(const ModelConfig& model);

// What BuildTraining says of memory, by pipeline stage. REQUIRES as there.
[[nodiscard]] std::vector<StageMemory> PlanMemory(const ModelConfig& model,
                                                  const TrainingPlan& plan);

// REQUIRES: CheckPlan(model, plan, plan.ranks()) is empty of errors. Fails with TL1310 for
// mixture-of-experts models.
[[nodiscard]] Result<TrainingWorkload> BuildTraining(const ModelConfig& model,
                                                     const TrainingPlan& plan,
                                                     const Accelerator& accelerator);

}  // namespace trunkline
