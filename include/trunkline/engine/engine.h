#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// How a sender and a receiver meet.
//   kEager       a put starts when issued; its bytes take the path, then fly for the latency
//   kRendezvous  a put starts when the receiver's matching wait is also reached, flies for the
//                latency first, then takes the path; both ends are released at the end (SimGrid's
//                CM02 communications)
enum class Handshake : std::uint8_t { kEager, kRendezvous };

struct EngineOptions {
  Handshake handshake = Handshake::kEager;
  bool fold = true;  // simulate one rank of each proven class of congruent ranks
  bool memo = true;  // reuse the solution of a collective that provably repeats
  std::uint64_t seed = 1;
  std::vector<RankId> record;    // ranks whose spans are kept …
  bool record_critical = false;  // … beside those of the critical rank
  ProgressSink* progress = nullptr;
  const StopToken* stop = nullptr;
};

// Everything an engine reads. All referenced objects outlive the run.
struct EngineInput {
  const Router& router;
  const TransportModel& transport;
  const TaskGraph& graph;
  const Placement& placement;
};

// Max-min fair fluid flows on the real links, event driven. The default engine.
[[nodiscard]] Result<Timeline> RunFlow(const EngineInput& input, const EngineOptions& options);

// Closed-form alpha-beta over the fabric's hierarchy and its narrowest cut: no contention between
// concurrent collectives, milliseconds even for 16,384 ranks.
[[nodiscard]] Result<Timeline> RunAnalytic(const EngineInput& input, const EngineOptions& options);

// A time that no schedule on this fabric can beat, whatever its algorithm and protocol (an
// in-network algorithm is held only against what in-network reduction cannot avoid): bandwidth of
// endpoints, of node, rack and pod cuts, and latency. The `bound` printed beside every simulated
// time.
[[nodiscard]] Result<Time> LowerBound(const Router& router, const TransportModel& transport,
                                      const CollectiveChoice& choice,
                                      const std::vector<DeviceId>& members);

}  // namespace trunkline
