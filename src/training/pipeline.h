#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/training/plan.h"

namespace trunkline {

// One pass of one micro-batch through one of a stage's chunks.
struct PipelineSlot {
  bool forward = true;
  std::uint32_t micro_batch = 0;
  std::uint32_t chunk = 0;
  auto operator<=>(const PipelineSlot&) const = default;
};

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;  // a stage
  std::uint32_t micro_batches = 1;
};

// REQUIRES: a checked plan.
[[nodiscard]] PipelineShape ShapeOf(const TrainingPlan& plan);

// What `stage` executes, in order. Chunk c of stage i is virtual stage c x stages + i of the model.
//
//   gpipe        all forwards, then all backwards, last micro-batch first
//   1f1b         stages - 1 - i forwards, then one forward and one backward in turn
//   interleaved  micro-batches in groups of `stages`, each group through chunk after chunk;
//                2 (stages - 1 - i) + (chunks - 1) stages forwards before the first backward; the
//                last group may be smaller (Megatron-LM, arXiv 2104.04473, section 2.2)
//
// Every stage orders the micro-batches of a chunk alike, so that messages between stages match
// first in, first out.
[[nodiscard]] std::vector<PipelineSlot> StageSlots(const PipelineShape& shape, std::uint32_t stage);

// From the first pass to the last where every chunk takes `forward` and `backward` and messages no
// time: (chunks x micro_batches + stages - 1)(forward + backward), and more where the last group of
// the interleaved schedule is incomplete.
[[nodiscard]] Time PipelineTime(const PipelineShape& shape, Time forward, Time backward);

}  // namespace trunkline
