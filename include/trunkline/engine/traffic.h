#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/base/units.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/traffic.h"

// Point-to-point traffic: what became of it under any engine, and as fluid flows.
namespace trunkline {

// A flow as it happened, in the order of the workload.
struct FlowRecord {
  static constexpr Time kNot = Time::Max();
  Time posted = kNot;
  Time delivered = kNot;     // its last byte arrived, and all before it
  Time acknowledged = kNot;  // the sender knows
  Time failed = kNot;        // its queue pair gave up
  Time alone;                // from post to delivery on the idle path, headers included
  Time least = {};           // what that takes at least, where windows have yet to open; else 0
};

struct FlowTrafficOptions {
  // What the ends add to a message: its overhead, and the kernel. None: nothing.
  const TransportModel* transport = nullptr;
  Time until = Time::Horizon();  // the run ends here, finished or not
  ProgressSink* progress = nullptr;
  const StopToken* stop = nullptr;
};

struct FlowTrafficReport {
  RunStatus status = RunStatus::kFinished;
  Time end;  // of the last delivery; where the run was cut short, that moment
  std::uint64_t events = 0;
  std::uint64_t solves = 0;  // max-min solutions computed
  // Every link with traffic, by link id; what has left its sender whole counts.
  std::vector<LinkUse> links;
  std::vector<FlowRecord> flows;
};

// Runs point-to-point traffic as fluid flows that share the links max-min fairly: what ideal
// congestion control with a queue for each flow gives. A flow takes its path's latency after its
// last byte, a read that of its request, too; the acknowledgement takes the same again. TL1410: no
// path; TL1600, TL1602.
[[nodiscard]] Result<FlowTrafficReport> RunFlowTraffic(const Router& router,
                                                       const TrafficWorkload& traffic,
                                                       const Placement& placement,
                                                       const FlowTrafficOptions& options);

// --- Statistics ---------------------------------------------------------------------------------

// The q-percentile is the smallest value that at least q % of the values do not exceed.
struct Percentiles {
  std::uint64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};
// All zero when there are no values.
[[nodiscard]] Percentiles PercentilesOf(std::vector<double> values);

// Whether a network carries the load that is offered to it. Messages that were posted and not
// delivered whole are backlog; those of them that have waited more than kLate times what they take
// alone are late. A network that carries its load has a backlog that comes and goes; beyond
// saturation, waiting grows for as long as the load lasts. Either of two rules says so:
//   accepted  over the measured time, fewer than kCarried of the bytes posted in it were delivered,
//             by more than chance makes it: twice the deviation of a backlog whose messages come
//             independently. It needs a time in which the backlog that any load has is small
//             against the load: by Little's law, 1 / (1 - kCarried) times what messages take alone,
//             byte by byte, after a warm-up of the longest of them.
//   late      the late backlog grew by more than 1 - kCarried of the bytes posted. Large messages
//             that a short time cuts off are backlog, but not late.
// Under both, what counts grew in the second half by at least half as much as in the first.
struct Saturation {
  static constexpr double kCarried = 0.95;
  static constexpr double kLate = 10;

  bool saturated = false;
  double accepted = 0;  // delivered over offered
  // What the first rule needs, and whether the run had it.
  Time least_warm_up;
  Time least_window;
  bool long_enough = false;
  double offered_bytes = 0;    // posted in the measured time
  double delivered_bytes = 0;  // of messages delivered in it, whenever they were posted
  double backlog_at_start = 0;
  double backlog_at_middle = 0;
  double backlog_at_end = 0;
  double late_at_start = 0;  // of the backlog
  double late_at_middle = 0;
  double late_at_end = 0;
  double chance = 0;  // bytes: one standard deviation of the difference of two backlogs
};
// Nothing where no time is measured or nothing was posted in it.
[[nodiscard]] std::optional<Saturation> JudgeSaturation(const TrafficWorkload& traffic,
                                                        std::span<const FlowRecord> records);

// What became of the measured flows.
struct TrafficStatistics {
  struct SizeClass {
    Bytes above;  // flows larger than this
    Bytes up_to;  // and at most of this size
    Percentiles fct_s;
    Percentiles slowdown;
  };
  std::uint64_t flows = 0;
  std::uint64_t unfinished = 0;         // of them, not delivered; the rest counts below
  Percentiles fct_s;                    // from post to the last byte's arrival
  Percentiles fct_ack_s;                // to its acknowledgement
  Percentiles slowdown;                 // fct over that of the flow alone
  std::vector<SizeClass> size_classes;  // by powers of ten; those with flows, by size
};
// Of one job, or of all.
[[nodiscard]] TrafficStatistics MeasureTraffic(const TrafficWorkload& traffic,
                                               std::span<const FlowRecord> records,
                                               std::optional<std::uint16_t> job = {});

}  // namespace trunkline
