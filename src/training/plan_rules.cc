#include "training/plan_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace trunkline {

std::int64_t WidestTensorCut(const ModelConfig& model) {
  return std::gcd(std::gcd(model.heads, model.kv_heads), model.ffn);
}

std::int64_t SequenceOf(const ModelConfig& model, const TrainingPlan& plan) {
  return plan.sequence > 0 ? plan.sequence : model.max_positions;
}

double MostMicroBatches(const ModelConfig& model) {
  // Of one micro-batch, with sequence parallelism, full recompute and ZeRO-3: 8 forward, 8
  // recomputed, 14 backward and 3 on weights and gradients.
  constexpr double kTasksALayer = 33;
  constexpr double kMostTasks = 2e7;  // about 1.2 GB
  return kMostTasks / kTasksALayer / static_cast<double>(model.layers);
}

bool LayoutFits(const ModelConfig& model, const TrainingPlan& plan) {
  if (std::cmp_not_equal(plan.layout.size(), plan.pp * plan.vp)) return false;
  std::int64_t sum = 0;
  for (const std::int64_t layers : plan.layout) {
    if (layers < 0 || layers > model.layers) return false;
    sum += layers;
  }
  return sum == model.layers;
}

bool CutsModel(const ModelConfig& model, const TrainingPlan& plan) {
  if (WidestTensorCut(model) % plan.tp != 0) return false;
  if (plan.sequence_parallel && SequenceOf(model, plan) % plan.tp != 0) return false;
  const bool interleaved = plan.schedule == PipelineSchedule::kInterleaved;
  if (interleaved ? plan.pp < 2 || plan.vp < 2 : plan.vp > 1) return false;
  return plan.layout.empty() ? model.layers % (plan.pp * plan.vp) == 0 : LayoutFits(model, plan);
}

bool CutsBatch(const ModelConfig& model, const TrainingPlan& plan) {
  if (plan.global_batch % (plan.micro_batch * plan.dp) != 0) return false;
  if (static_cast<double>(plan.micro_batches()) > MostMicroBatches(model)) return false;
  return plan.fsdp_shard_size == 0 || plan.dp % plan.fsdp_shard_size == 0;
}

}  // namespace trunkline
