#include "training/stage_memory.h"

#include <algorithm>

#include "training/step_kernels.h"

namespace trunkline {
namespace {

// CUDA context and NCCL buffers of a training process: 1.3 to 1.6 GB measured on the BLOOM
// run's A100s (BigScience chronicles); the upper figure.
constexpr std::int64_t kContextBytes = 1'600'000'000;

// How the tensors outside matrix multiplications are cut: along the sequence, or not at all.
std::int64_t SequenceCut(const TrainingPlan& plan) { return plan.sequence_parallel ? plan.tp : 1; }

std::int64_t FullLayerBytes(const ModelConfig& model, const TrainingPlan& plan, bool keep_scores) {
  const std::int64_t h = model.hidden;
  const std::int64_t masks = model.dropout ? 2 * h : 0;
  // Inputs of both norms, of the qkv and of the up projection; two dropout masks.
  const std::int64_t along_sequence = 2 * 4 * h + masks;
  const std::int64_t attention = 2 * model.head_dim * (2 * model.heads + 2 * model.kv_heads);
  const std::int64_t mlp = (model.gated_mlp ? 6 : 4) * model.ffn;
  std::int64_t scores = 0;
  if (plan.flash_attention) {
    scores = 4 * model.heads;  // log-sum-exp, fp32
  } else if (keep_scores) {
    // Softmax output; with dropout also its mask and its output.
    scores = (model.dropout ? 5 : 2) * model.heads * plan.sequence;
  }
  const std::int64_t tokens = plan.micro_batch * plan.sequence;
  return tokens * along_sequence / SequenceCut(plan) +
         tokens * (attention + mlp + scores) / plan.tp;
}

std::int64_t OptimizerBytes(const TrainingPlan& plan) {
  // fp32 weight and moments; a 16-bit gradient is copied to fp32.
  return 4 * (1 + Moments(plan)) + (plan.grad_fp32 ? 0 : 4);
}

std::int64_t LargestUnit(const Stage& stage) {
  std::int64_t largest = 0;
  for (const Chunk& chunk : stage.chunks) {
    for (const Unit& unit : chunk.units) largest = std::max(largest, unit.parameters);
  }
  return largest;
}

// Walks the stage's passes, adding `bytes(chunk)` on a forward and taking it off after its
// backward.
template <typename ChunkBytes>
std::int64_t Peak(const PipelineShape& shape, const Stage& stage, std::uint32_t stage_index,
                  ChunkBytes bytes) {
  std::int64_t held = 0;
  std::int64_t peak = 0;
  for (const PipelineSlot& slot : StageSlots(shape, stage_index)) {
    const std::int64_t change = bytes(stage.chunks[slot.chunk]);
    held += slot.forward ? change : -change;
    peak = std::max(peak, held);
  }
  return peak;
}

}  // namespace

std::int64_t LayerActivationBytes(const ModelConfig& model, const TrainingPlan& plan) {
  if (plan.recompute == Recompute::kFull) {
    return 2 * plan.micro_batch * plan.sequence * model.hidden / SequenceCut(plan);
  }
  return FullLayerBytes(model, plan, plan.recompute == Recompute::kNone);
}

std::int64_t PeakLayersInFlight(const PipelineShape& shape, const Stage& stage,
                                std::uint32_t stage_index) {
  return Peak(shape, stage, stage_index, [](const Chunk& chunk) { return chunk.layers(); });
}

StageMemory ComputeStageMemory(const ModelConfig& model, const TrainingPlan& plan,
                               const Stage& stage, std::uint32_t stage_index) {
  const std::int64_t parameters = stage.parameters();
  const std::int64_t shard = ShardSize(plan);
  const auto share = [&](std::int64_t bytes, int from_stage) {
    return Bytes(plan.zero >= from_stage ? (bytes + shard - 1) / shard : bytes);
  };
  StageMemory memory;
  memory.weights = share(parameters * kWeightBytes, 3);
  memory.gradients = share(parameters * GradientBytes(plan), 2);
  memory.optimizer = share(parameters * OptimizerBytes(plan), 1);

  const std::int64_t tokens = plan.micro_batch * plan.sequence;
  const std::int64_t layer = LayerActivationBytes(model, plan);
  // Embedding: its dropout mask. Head: inputs of the final norm and of the logits.
  const std::int64_t mask = model.dropout ? tokens * model.hidden / SequenceCut(plan) : 0;
  const std::int64_t head = tokens * 4 * model.hidden / SequenceCut(plan);
  std::int64_t activations = Peak(ShapeOf(plan), stage, stage_index, [&](const Chunk& chunk) {
    return chunk.layers() * layer + (chunk.first ? mask : 0) + (chunk.last ? head : 0);
  });
  // A recomputed layer is whole while its backward runs.
  if (plan.recompute == Recompute::kFull) activations += FullLayerBytes(model, plan, true);
  memory.activations = Bytes(activations);

  std::int64_t other = kContextBytes;
  if (stage.chunks.back().last) {
    // Logits: the cross entropy keeps them in fp32 for its backward, for every micro-batch in
    // flight (megatron/core/tensor_parallel/cross_entropy.py), and reads them in 16 bits.
    const std::int64_t kept = Peak(ShapeOf(plan), stage, stage_index,
                                   [](const Chunk& chunk) { return chunk.last ? 1 : 0; });
    other += tokens * PaddedVocabulary(model, plan) / plan.tp * (4 * kept + 2);
  }
  if (plan.zero == 2 && shard > 1) {
    // A bucket is whole until it has been reduced into the shard.
    other += LargestBucket(stage, plan, stage_index) * GradientBytes(plan);
  }
  if (plan.zero == 3 && shard > 1) {
    // Two units with whole weights and gradients (one in use, one on its way).
    other += 2 * LargestUnit(stage) * (kWeightBytes + GradientBytes(plan));
  }
  memory.other = Bytes(other);
  return memory;
}

}  // namespace trunkline
