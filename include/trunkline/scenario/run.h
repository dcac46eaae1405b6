#pragma once

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/engine/engine.h"
#include "trunkline/engine/packet_samples.h"
#include "trunkline/scenario/result.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// What of a run is not the scenario's: how to compute it, never what.
struct RunOptions {
  bool fold = true;
  bool memo = true;
  Handshake handshake = Handshake::kEager;
  std::uint32_t threads = 1;
  std::uint32_t repeat = 1;             // runs, each with the next seed
  bool all_links = false;               // of the result; else the worst thousand
  bool try_changes = false;             // of a training step: RunResult::tried
  PacketSampleSink* samples = nullptr;  // of the first seed, where the scenario asks for any
  ProgressSink* progress = nullptr;
  const StopToken* stop = nullptr;
};

// Builds what the scenario describes, runs its engine and sums up: the one entry point of command
// line and library users. Fails when an input contradicts another (TL12xx to TL16xx); a run that
// ended badly (deadlocked, interrupted, does not fit in memory) is a result that says so.
[[nodiscard]] Result<RunResult> RunScenario(const Scenario& scenario,
                                            const RunOptions& options = {});

}  // namespace trunkline
