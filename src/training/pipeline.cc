#include "training/pipeline.h"

#include <algorithm>
#include <utility>

#include "trunkline/base/check.h"

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

// When each pass ends, where messages take no time.
class PassTimes {
 public:
  PassTimes(const PipelineShape& shape, Time forward, Time backward)
      : shape_(shape),
        virtual_stages_(shape.stages * shape.chunks),
        took_{backward, forward},
        end_(std::size_t{2} * virtual_stages_ * shape.micro_batches, kNotYet),
        free_(shape.stages) {}

  Time Run() && {
    std::vector<std::vector<PipelineSlot>> slots;
    for (std::uint32_t i = 0; i < shape_.stages; ++i) slots.push_back(StageSlots(shape_, i));
    std::vector<std::size_t> next(shape_.stages, 0);
    for (bool progress = true; std::exchange(progress, false);) {
      for (std::uint32_t i = 0; i < shape_.stages; ++i) {
        for (; next[i] < slots[i].size() && Pass(i, slots[i][next[i]]); ++next[i]) progress = true;
      }
    }
    for (std::uint32_t i = 0; i < shape_.stages; ++i) {
      TL_CHECK(next[i] == slots[i].size(), "a pipeline stage waits for ever", i);
    }
    return *std::ranges::max_element(free_);
  }

 private:
  static constexpr Time kNotYet = Time::Picoseconds(-1);

  Time& At(bool forward, std::uint32_t virtual_stage, std::uint32_t micro_batch) {
    return end_[(std::size_t{forward} * virtual_stages_ + virtual_stage) * shape_.micro_batches +
                micro_batch];
  }

  // False where what it waits for is not done.
  bool Pass(std::uint32_t stage, const PipelineSlot& slot) {
    const std::uint32_t here = slot.chunk * shape_.stages + stage;
    Time ready;
    if (slot.forward) {
      if (here > 0) ready = At(true, here - 1, slot.micro_batch);
    } else if (here + 1 < virtual_stages_) {
      ready = At(false, here + 1, slot.micro_batch);
    } else {
      ready = At(true, here, slot.micro_batch);
    }
    if (ready == kNotYet) return false;
    free_[stage] = std::max(free_[stage], ready) + took_[std::size_t{slot.forward}];
    At(slot.forward, here, slot.micro_batch) = free_[stage];
    return true;
  }

  PipelineShape shape_;
  std::uint32_t virtual_stages_;
  Time took_[2];           // backward, forward
  std::vector<Time> end_;  // by direction, virtual stage and micro-batch
  std::vector<Time> free_;
};

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

Time PipelineTime(const PipelineShape& shape, Time forward, Time backward) {
  return PassTimes(shape, forward, backward).Run();
}

}  // namespace trunkline
