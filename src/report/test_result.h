#pragma once

#include "trunkline/scenario/result.h"

// Results made by hand, whose every figure follows from a closed form: what the renderers are
// tested with.
namespace trunkline::testing {

// A GPipe step of a small model on two servers of four GPUs (tp 1, pp 4, dp 2) under two leaves and
// one spine. Forward takes 10 ms, backward 20 ms a micro-batch and stage, transfers between stages
// are free; then a reduce-scatter of 30 ms and an optimizer step of 5 ms. So with m micro-batches
//   step = (m + 3)(10 + 20) + 30 + 5 ms,  compute = 30 m + 5,  bubble = 90,  exposed = 30.
[[nodiscard]] RunResult PipelineResult(int micro_batches = 8);

// The same with a window of 10 ms in which packets take 2 ms longer than flows, of which the step
// is 1 ms later.
[[nodiscard]] RunResult WindowResult();

// AllReduce of 1 KiB, 64 KiB and 1 MiB over the eight GPUs of the same servers: 10, 20 and 100 us.
[[nodiscard]] RunResult CollectiveResult();

// A hundred messages that took 1, 2, … 100 us each where 1 us is what they take alone, in packets.
[[nodiscard]] RunResult MessagesResult();

}  // namespace trunkline::testing
