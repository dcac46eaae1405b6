#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"

namespace trunkline {

// A part of a stage whose parameters travel together: a layer, the embedding or the head.
struct Unit {
  enum class Kind : std::uint8_t { kEmbedding, kLayer, kHead };
  Kind kind = Kind::kLayer;
  std::int64_t parameters = 0;  // on one GPU (a tensor-parallel shard)
  std::uint32_t layer = 0;      // of the model, from 0; kLayer only
};

// One of the model's pipeline chunks, in the order in which forward crosses it.
struct Chunk {
  std::vector<Unit> units;
  bool first = false;  // of the model
  bool last = false;

  [[nodiscard]] std::int64_t layers() const;
  [[nodiscard]] std::int64_t parameters() const;
};

// The chunks of one pipeline stage.
struct Stage {
  std::vector<Chunk> chunks;
  // The embedding that this stage shares with another one, on one GPU; 0: none.
  std::int64_t shared_embedding = 0;

  [[nodiscard]] std::int64_t parameters() const;
};

// REQUIRES: a checked plan.
[[nodiscard]] std::vector<Stage> CutIntoStages(const ModelConfig& model, const TrainingPlan& plan);

// Ranks over which ZeRO shards states.
[[nodiscard]] inline std::int64_t ShardSize(const TrainingPlan& plan) {
  return plan.fsdp_shard_size > 0 ? plan.fsdp_shard_size : plan.dp;
}
// Parameters of a stage that one GPU updates.
[[nodiscard]] std::int64_t OwnParameters(const TrainingPlan& plan, const Stage& stage);
[[nodiscard]] inline std::int64_t GradientBytes(const TrainingPlan& plan) {
  return plan.grad_fp32 ? 4 : 2;
}
// The least parameters of a gradient bucket on a stage, after Megatron-LM's bucket_size: max(40
// million, one million x dp) on the first stage, and a whole chunk on the others, whose reduction
// hides in the pipeline's drain (megatron/core/distributed/distributed_data_parallel.py).
[[nodiscard]] std::int64_t BucketParameters(const TrainingPlan& plan, std::uint32_t stage_index);
// The most parameters of a bucket, which ends with a unit and with a chunk.
[[nodiscard]] std::int64_t LargestBucket(const Stage& stage, const TrainingPlan& plan,
                                         std::uint32_t stage_index);
inline constexpr std::int64_t kWeightBytes = 2;  // of the 16-bit copy that kernels read
// fp32 moments that the optimizer keeps of each parameter.
[[nodiscard]] inline std::int64_t Moments(const TrainingPlan& plan) {
  return plan.optimizer == Optimizer::kAdam ? 2 : 1;
}

}  // namespace trunkline
