#include "training/pipeline.h"

#include <algorithm>

namespace trunkline {
namespace {

// Micro-batches rounded up to whole groups of `stages`.
std::uint32_t WholeGroups(const PipelineShape& shape) {
  return (shape.micro_batches + shape.stages - 1) / shape.stages * shape.stages;
}

// The passes of one direction, of whole groups, in the order that every stage keeps.
std::vector<PipelineSlot> Passes(const PipelineShape& shape, bool forward) {
  std::vector<PipelineSlot> passes;
  passes.reserve(std::size_t{WholeGroups(shape)} * shape.chunks);
  for (std::uint32_t first = 0; first < shape.micro_batches; first += shape.stages) {
    for (std::uint32_t c = 0; c < shape.chunks; ++c) {
      const std::uint32_t chunk = forward ? c : shape.chunks - 1 - c;
      for (std::uint32_t i = 0; i < shape.stages; ++i) {
        passes.push_back({forward, first + i, chunk});
      }
    }
  }
  return passes;
}

std::size_t WarmUp(const PipelineShape& shape, std::uint32_t stage) {
  const std::size_t behind = shape.stages - 1 - stage;
  switch (shape.schedule) {
    case PipelineSchedule::kGpipe:
      return std::size_t{WholeGroups(shape)} * shape.chunks;
    case PipelineSchedule::kOneFOneB:
      return behind;
    case PipelineSchedule::kInterleaved:
      return 2 * behind + std::size_t{shape.chunks - 1} * shape.stages;
  }
  return 0;
}

}  // namespace

PipelineShape ShapeOf(const TrainingPlan& plan) {
  return {.schedule = plan.schedule,
          .stages = static_cast<std::uint32_t>(plan.pp),
          .chunks = static_cast<std::uint32_t>(plan.vp),
          .micro_batches = static_cast<std::uint32_t>(plan.micro_batches())};
}

std::vector<PipelineSlot> StageSlots(const PipelineShape& shape, std::uint32_t stage) {
  const std::vector<PipelineSlot> forwards = Passes(shape, true);
  std::vector<PipelineSlot> backwards = Passes(shape, false);
  if (shape.schedule == PipelineSchedule::kGpipe) std::ranges::reverse(backwards);

  std::vector<PipelineSlot> slots;
  slots.reserve(2 * forwards.size());
  const std::size_t warm_up = std::min(WarmUp(shape, stage), forwards.size());
  slots.insert(slots.end(), forwards.begin(),
               forwards.begin() + static_cast<std::ptrdiff_t>(warm_up));
  std::size_t next_backward = 0;
  for (std::size_t i = warm_up; i < forwards.size(); ++i) {
    slots.push_back(forwards[i]);
    slots.push_back(backwards[next_backward++]);
  }
  slots.insert(slots.end(), backwards.begin() + static_cast<std::ptrdiff_t>(next_backward),
               backwards.end());
  // Dropping the passes of micro-batches that do not exist keeps the order of the others, so what
  // cannot deadlock with whole groups cannot without.
  std::erase_if(slots,
                [&](const PipelineSlot& slot) { return slot.micro_batch >= shape.micro_batches; });
  return slots;
}

}  // namespace trunkline
