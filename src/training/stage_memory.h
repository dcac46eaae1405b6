#pragma once

#include <cstdint>
#include <vector>

#include "training/pipeline.h"
#include "training/stage_model.h"
#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"
#include "trunkline/training/training.h"

namespace trunkline {

// Bytes that one layer keeps for the backward pass of one micro-batch (arXiv 2205.05198, section 4,
// tensor by tensor, so that it holds for grouped heads and gated MLPs too).
[[nodiscard]] std::int64_t LayerActivationBytes(const ModelConfig& model, const TrainingPlan& plan);

// The most layers x micro-batches whose activations `stage` holds at one time.
[[nodiscard]] std::int64_t PeakLayersInFlight(const PipelineShape& shape, const Stage& stage,
                                              std::uint32_t stage_index);

[[nodiscard]] StageMemory ComputeStageMemory(const ModelConfig& model, const TrainingPlan& plan,
                                             const Stage& stage, std::uint32_t stage_index);

}  // namespace trunkline
