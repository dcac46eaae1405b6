#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "training/kernel_model.h"
#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"
#include "trunkline/training/training.h"

namespace trunkline {

// The compute of a step on one GPU, cut where tensor-parallel communication sits.
enum class Piece : std::uint8_t {
  kEmbeddingForward,
  kNormForward,  // of an attention or MLP block, with the residual addition before it
  kAttentionForward,
  kMlpForward,
  kHeadForward,         // logits
  kLoss,                // cross-entropy
  kAttentionRecompute,  // the attention core alone (selective recompute)
  kHeadBackwardInput,   // loss and gradient of the head's input
  kHeadBackwardWeight,
  kMlpBackwardOutput,        // down projection and activation
  kMlpBackwardInput,         // gradient of the up projection's input
  kMlpBackwardWeight,        // gradient of the up projection's weight
  kAttentionBackwardOutput,  // output projection and attention core
  kAttentionBackwardInput,
  kAttentionBackwardWeight,
  kNormBackward,
  kEmbeddingBackward,
};
inline constexpr std::size_t kPieceCount = 17;

struct StepKernels {
  std::array<Time, kPieceCount> time;
  std::vector<KernelCost> kernels;  // of one layer, the head and the embedding

  [[nodiscard]] Time of(Piece piece) const { return time[static_cast<std::size_t>(piece)]; }
};

// Vocabulary as Megatron-LM pads it: a multiple of 128 x tp.
[[nodiscard]] std::int64_t PaddedVocabulary(const ModelConfig& model, const TrainingPlan& plan);

// REQUIRES: a checked plan with its sequence filled in.
[[nodiscard]] StepKernels ComputeStepKernels(const ModelConfig& model, const TrainingPlan& plan,
                                             const KernelModel& kernels);

// Norm of the gradients, and the update, of `parameters` on one GPU.
[[nodiscard]] KernelCost GradientNormCost(const KernelModel& kernels, const TrainingPlan& plan,
                                          std::int64_t parameters);
[[nodiscard]] KernelCost OptimizerCost(const KernelModel& kernels, const TrainingPlan& plan,
                                       std::int64_t parameters);

}  // namespace trunkline
