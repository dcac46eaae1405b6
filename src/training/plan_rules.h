#pragma once

#include <cstdint>

#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"

// The rules of CheckPlan that remedies are searched by. All REQUIRE extents of at least 1.
namespace trunkline {

// Largest extent of any parallel dimension or batch: above it products could overflow.
inline constexpr std::int64_t kMaxExtent = 1'000'000;
inline constexpr std::int64_t kMaxSequence = 1'000'000'000;

// Every tp that the model allows divides this.
[[nodiscard]] std::int64_t WidestTensorCut(const ModelConfig& model);
// The plan's sequence, or all positions.
[[nodiscard]] std::int64_t SequenceOf(const ModelConfig& model, const TrainingPlan& plan);
// The most micro-batches whose tasks can be held.
[[nodiscard]] double MostMicroBatches(const ModelConfig& model);

// Whether tp and pp x vp cut the model's heads, MLP, sequence and layers.
[[nodiscard]] bool CutsModel(const ModelConfig& model, const TrainingPlan& plan);
// Whether dp and micro_batch cut the batch, into no more micro-batches than can be held, and shard
// groups cut dp.
[[nodiscard]] bool CutsBatch(const ModelConfig& model, const TrainingPlan& plan);
// Whether the layout has an entry for each chunk and adds up to the layers.
[[nodiscard]] bool LayoutFits(const ModelConfig& model, const TrainingPlan& plan);

}  // namespace trunkline
