#pragma once

#include <cstdint>

#include "trunkline/training/training.h"

namespace trunkline {

// What of a pipelined step stays idle when stages are equal and transfers are free, in passes
// forward and backward of one chunk.
struct PipelineBubble {
  std::int64_t fill = 0;    // pp - 1
  std::int64_t passes = 0;  // vp x micro-batches, which are not idle
  // Micro-batches of the interleaved schedule's last group, where they are fewer than pp, and what
  // stages then wait longer. That has no closed form: it is counted pass by pass, a backward as
  // much longer than a forward as the step's are.
  std::int64_t last_group = 0;
  double group_wait = 0;

  [[nodiscard]] double idle() const { return static_cast<double>(fill) + group_wait; }
  // Of the whole step.
  [[nodiscard]] double share() const { return idle() / (static_cast<double>(passes) + idle()); }
};

[[nodiscard]] PipelineBubble PipelineBubbleOf(const TrainingWorkload& training,
                                              std::int64_t micro_batches);

}  // namespace trunkline
