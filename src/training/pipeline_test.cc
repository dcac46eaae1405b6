#include "training/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/test_units.h"

namespace trunkline {
namespace {

// Runs a pipeline in which a forward pass of a chunk takes 1 and a backward 2 units, and messages
// no time. Returns the end, or -1 when stages wait for each other for ever.
std::int64_t Makespan(const PipelineShape& shape) {
  const std::uint32_t virtual_stages = shape.stages * shape.chunks;
  // End of (forward?, virtual stage, micro-batch); -1: not done.
  std::vector<std::int64_t> end(std::size_t{2} * virtual_stages * shape.micro_batches, -1);
  const auto at = [&](bool forward, std::uint32_t stage, std::uint32_t batch) -> std::int64_t& {
    return end[(std::size_t{forward} * virtual_stages + stage) * shape.micro_batches + batch];
  };
  std::vector<std::vector<PipelineSlot>> slots;
  for (std::uint32_t i = 0; i < shape.stages; ++i) slots.push_back(StageSlots(shape, i));
  std::vector<std::size_t> next(shape.stages, 0);
  std::vector<std::int64_t> free(shape.stages, 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::uint32_t i = 0; i < shape.stages; ++i) {
      while (next[i] < slots[i].size()) {
        const PipelineSlot& slot = slots[i][next[i]];
        const std::uint32_t stage = slot.chunk * shape.stages + i;
        std::int64_t ready = 0;
        if (slot.forward && stage > 0) ready = at(true, stage - 1, slot.micro_batch);
        if (!slot.forward) {
          ready = stage + 1 < virtual_stages ? at(false, stage + 1, slot.micro_batch)
                                             : at(true, stage, slot.micro_batch);
        }
        if (ready < 0) break;
        free[i] = std::max(free[i], ready) + (slot.forward ? 1 : 2);
        at(slot.forward, stage, slot.micro_batch) = free[i];
        ++next[i];
        progress = true;
      }
    }
  }
  for (std::uint32_t i = 0; i < shape.stages; ++i) {
    if (next[i] < slots[i].size()) return -1;
  }
  return *std::ranges::max_element(free);
}

std::vector<PipelineShape> EveryShape() {
  std::vector<PipelineShape> shapes;
  for (std::uint32_t stages = 1; stages <= 6; ++stages) {
    for (std::uint32_t batches = 1; batches <= 13; ++batches) {
      shapes.push_back({PipelineSchedule::kGpipe, stages, 1, batches});
      shapes.push_back({PipelineSchedule::kOneFOneB, stages, 1, batches});
      for (std::uint32_t chunks = 2; chunks <= 4; ++chunks) {
        shapes.push_back({PipelineSchedule::kInterleaved, stages, chunks, batches});
      }
    }
  }
  return shapes;
}

TEST(StageSlots, RunEveryPassOnceAndForwardBeforeBackward) {
  for (const PipelineShape& shape : EveryShape()) {
    for (std::uint32_t i = 0; i < shape.stages; ++i) {
      std::set<PipelineSlot> seen;
      for (const PipelineSlot& slot : StageSlots(shape, i)) {
        EXPECT_TRUE(seen.insert(slot).second);
        if (!slot.forward) {
          EXPECT_TRUE(seen.contains({true, slot.micro_batch, slot.chunk}));
        }
      }
      EXPECT_EQ(seen.size(), 2 * shape.micro_batches * shape.chunks);
    }
  }
}

TEST(StageSlots, NeverDeadlockForAnyStagesChunksAndMicroBatches) {
  for (const PipelineShape& shape : EveryShape()) {
    EXPECT_GE(Makespan(shape), 3 * static_cast<std::int64_t>(shape.micro_batches) * shape.chunks)
        << static_cast<int>(shape.schedule) << " p=" << shape.stages << " v=" << shape.chunks
        << " m=" << shape.micro_batches;
  }
}

TEST(StageSlots, MessagesBetweenStagesMatchFirstInFirstOut) {
  for (const PipelineShape& shape : EveryShape()) {
    for (std::uint32_t i = 0; i < shape.stages; ++i) {
      const std::uint32_t after = (i + 1) % shape.stages;
      if (after == i) continue;
      // Forward messages that stage i sends and stage `after` receives, as (chunk, micro-batch) of
      // the receiver; backward ones the other way.
      std::vector<std::pair<std::uint32_t, std::uint32_t>> sent[2];
      std::vector<std::pair<std::uint32_t, std::uint32_t>> received[2];
      const std::uint32_t wrap = after == 0 ? 1 : 0;
      for (const PipelineSlot& slot : StageSlots(shape, i)) {
        const std::uint32_t chunk = slot.chunk + wrap;  // of the same message on `after`
        if (chunk >= shape.chunks) continue;
        (slot.forward ? sent : received)[slot.forward ? 0 : 1].emplace_back(chunk,
                                                                            slot.micro_batch);
      }
      for (const PipelineSlot& slot : StageSlots(shape, after)) {
        if (slot.chunk < wrap) continue;
        (slot.forward ? received : sent)[slot.forward ? 0 : 1].emplace_back(slot.chunk,
                                                                            slot.micro_batch);
      }
      EXPECT_EQ(sent[0], received[0]);
      EXPECT_EQ(sent[1], received[1]);
    }
  }
}

// arXiv 2104.04473, section 2.2: bubble over ideal time (p - 1) / m, and (p - 1) / (v m)
// interleaved.
TEST(StageSlots, TheBubbleOfGpipeAnd1f1bIsStagesMinusOneOverMicroBatches) {
  for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::kOneFOneB}) {
    for (std::uint32_t stages = 1; stages <= 8; ++stages) {
      for (std::uint32_t batches = 1; batches <= 16; ++batches) {
        EXPECT_EQ(Makespan({schedule, stages, 1, batches}), 3 * (batches + stages - 1));
      }
    }
  }
}

TEST(StageSlots, InterleavingDividesTheBubbleByTheChunks) {
  for (std::uint32_t stages = 2; stages <= 8; ++stages) {
    for (std::uint32_t chunks = 2; chunks <= 4; ++chunks) {
      for (std::uint32_t groups = 1; groups <= 3; ++groups) {
        const std::uint32_t batches = groups * stages;
        EXPECT_EQ(Makespan({PipelineSchedule::kInterleaved, stages, chunks, batches}),
                  3 * (chunks * batches + stages - 1));
      }
    }
  }
}

TEST(PipelineTime, IsTheClosedFormWhereTheLastGroupIsComplete) {
  for (const PipelineShape& shape : EveryShape()) {
    const bool interleaved = shape.schedule == PipelineSchedule::kInterleaved;
    if (interleaved && shape.micro_batches % shape.stages != 0) continue;
    EXPECT_EQ(PipelineTime(shape, Us(3), Us(7)),
              Us(3 + 7) * (std::int64_t{shape.chunks} * shape.micro_batches + shape.stages - 1));
  }
}

// A group of r micro-batches, fewer than stages, keeps the first stage idle for p - r chunk passes
// before it goes on to its next chunk: Calculon's (v - 1)(p - r) passes at most (arXiv 2309.06782),
// of which forwards hide behind the backwards of groups before it.
TEST(PipelineTime, AnIncompleteGroupWaitsForItsOwnMessages) {
  for (std::uint32_t stages = 2; stages <= 8; ++stages) {
    for (std::uint32_t chunks = 2; chunks <= 4; ++chunks) {
      for (std::uint32_t batches = 1; batches <= 3 * stages; ++batches) {
        const std::uint32_t last = batches % stages;
        if (last == 0) continue;
        const PipelineShape shape{PipelineSchedule::kInterleaved, stages, chunks, batches};
        const auto passes = std::int64_t{chunks} * batches + stages - 1;
        const std::int64_t gaps = std::int64_t{chunks - 1} * (stages - last);
        for (const std::int64_t backward : {3, 5, 6, 9}) {
          const Time wait = PipelineTime(shape, Us(3), Us(backward)) - Us(3 + backward) * passes;
          EXPECT_LE(wait, Us(3 + backward) * gaps);
          EXPECT_GE(wait, Us(batches < stages ? 3 + backward : backward) * gaps)
              << "p=" << stages << " v=" << chunks << " m=" << batches << " b=" << backward;
        }
      }
    }
  }
}

}  // namespace
}  // namespace trunkline
