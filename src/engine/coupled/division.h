#pragma once

#include <cstdint>
#include <vector>

#include "engine/coupled/packet_lines.h"
#include "engine/flow/fold.h"
#include "engine/flow/problem.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// Who carries which connection: those through the network become lines. What is left of them for
// the interpreter is the latency of buses and software.
struct Division {
  Folding folding;
  std::vector<std::uint32_t> line_of;  // by connection
  std::vector<PacketLines::Line> lines;
  std::uint32_t strangers = 0;  // connections inside nodes that meet lines on a crowded bus
  // Whether ranks of different nodes learn of each other only by packets, and the run lasts until
  // the last rank has ended: nodes may be in different shards.
  bool separable = true;
};

[[nodiscard]] Result<Division> Divide(const EngineInput& input, const FlowProblem& problem);

}  // namespace trunkline
