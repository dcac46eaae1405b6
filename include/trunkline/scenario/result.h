#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/statistics.h"
#include "trunkline/collective/tuner.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

class Fabric;
class Router;
class TaskGraph;
struct JobsResult;
struct PacketReport;
struct PacketSamples;
struct TrafficResult;
struct TrainingWorkload;
struct WindowReport;

// One row of `trunkline collective`, or one kind of collective of a training step.
struct CollectiveRow {
  Primitive primitive = Primitive::kAllReduce;
  Bytes bytes;
  std::int64_t count = 0;  // elements of `dtype`
  std::string dtype = "float";
  std::uint32_t root = 0;  // where the primitive has one
  std::string algorithm;
  Protocol protocol = Protocol::kSimple;
  std::uint32_t channels = 1;
  Time time;
  Time bound;
  double algbw_Bps = 0;
  double busbw_Bps = 0;
  // What was weighed when the algorithm was chosen, best first; one where nothing was open.
  std::vector<TunerCandidate> candidates = {};
};

// The training part of a result: the critical rank's parts add up to `time` exactly; means are over
// all ranks.
struct IterationResult {
  Time time;
  Time compute;
  Time exposed_comm;
  Time bubble;
  Time other;
  // What the step takes when a rank computes and communicates one after the other, an upper bound:
  // with pp = 1 what the critical rank computes and communicates in all; else
  // without_overlap, unless the run takes longer than that.
  std::optional<Time> serial{};
  // The step with nothing overlapped, by the analytic engine, where advice is wanted: less than
  // `time` where overlap, or contention that this engine does not see, makes the run longer.
  std::optional<Time> without_overlap{};
  double mean_compute_s = 0;
  double mean_exposed_comm_s = 0;
  double mean_bubble_s = 0;
  double mean_other_s = 0;
  RankId critical_rank{};
  double tokens_per_s = 0;
  double mfu = 0;
  FlopRate model_flops_per_gpu_s;
};

struct StepCollective {
  CollectiveRow row;
  std::string role;  // "tp", "dp", …
  std::uint32_t group_size = 0;
  std::uint64_t count = 0;  // executions on the critical rank
  Time time;                // all of them, on the critical rank
  Time waiting;             // of that, before the last member came
  Time exposed;
  // Those that took at least row.bound from when the last member came, and that time: the only ones
  // that row.time, their mean, and bandwidths are of (timeline.h); without any these are 0.
  std::uint64_t timed_count = 0;
  Time timed;
};

// What part of a link's capacity over `time` went to what it carried; 0 when no time passed. Over
// the time until its last frame left, where that is longer: answers and repeats follow the last
// delivery, and are counted.
[[nodiscard]] double Utilisation(const LinkUse& use, Rate rate, Time time);

// What only an engine of packets sees of a link.
struct PacketLinkFigures {
  std::uint64_t packets = 0;
  std::uint64_t max_queue_bytes = 0;  // at its sending side
  std::uint64_t marks = 0;
  std::uint64_t pauses = 0;  // that its receiving side sent
};

struct LinkRow {
  LinkId link{};
  std::string from;
  std::string to;
  double utilisation = 0;  // Utilisation()
  std::int64_t bytes = 0;
  std::optional<PacketLinkFigures> packets = {};
};

// A training step by the analytic engine, as it is or with one key of its scenario changed to what
// fits the memory.
struct TriedChange {
  std::string change;  // "workload.training.recompute: full"; empty: as it is
  Time time;
  Bytes memory = {};         // of the fullest stage's GPU
  std::int64_t batches = 1;  // of the plan's global batch, in that time
  bool of_pipeline = false;  // meant to leave its stages idle for less

  // Of one global batch.
  [[nodiscard]] Time batch_time() const { return Time::Picoseconds(time.ps() / batches); }
};

// A figure over runs with different seeds: its mean, and how far the true mean may be (95 %).
struct RepeatedFigure {
  std::string name;  // "time_s", as the result names it
  MeanInterval interval;
  double least = 0;
  double most = 0;
};

struct RepeatResult {
  std::vector<std::uint64_t> seeds;
  std::vector<RepeatedFigure> figures;
};

// Everything a run produced; what report/ prints. What a model does not compute stays empty.
struct RunResult {
  std::string title;
  RunStatus status = RunStatus::kFinished;
  std::string engine;  // "flow"
  std::uint64_t seed = 1;
  Time time;
  Time bound;
  std::vector<std::string> assumptions;
  Diagnostics warnings;
  std::uint64_t events = 0;
  double wall_s = 0;
  double cpu_s = 0;
  int threads = 1;

  // Inputs, kept for the report: the fabric, where ranks sit, how routes are found.
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const Router> router;
  Placement placement;
  PlacementKind placement_kind = PlacementKind::kPacked;
  Fragmentation fragmentation;
  TransportModel transport;
  std::string transport_name;   // as in ClusterSpec
  std::string cluster_summary;  // "64 x dgx-h100, rail-optimized, 400 Gb/s"

  std::optional<IterationResult> iteration;          // training
  std::shared_ptr<const TrainingWorkload> training;  // training
  std::vector<StepCollective> step_collectives;      // training
  std::vector<CollectiveRow> rows;                   // collective
  std::shared_ptr<const TaskGraph> trace;            // trace, or all jobs as one graph
  std::shared_ptr<const TrafficResult> traffic;      // traffic
  std::shared_ptr<const PacketReport> packets;       // any but traffic, as packets
  std::shared_ptr<const JobsResult> jobs;            // several jobs, or background traffic
  std::shared_ptr<const WindowReport> window;        // with packet.window
  std::shared_ptr<const PacketSamples> samples;      // traffic as packets, where asked for
  std::string samples_file;                          // beside result.json; empty: none
  bool fits_memory = true;
  Bytes memory_per_gpu;  // of the fullest stage
  Bytes memory_capacity;

  std::vector<TriedChange> tried;  // with RunOptions::try_changes; the first is the step as it is

  std::optional<RepeatResult> repeat;  // the rest is of the first seed

  std::vector<LinkRow> links;  // worst first
  std::size_t links_total = 0;
  Timeline timeline;
};

}  // namespace trunkline
