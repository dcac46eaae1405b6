#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/base/units.h"
#include "trunkline/collective/primitive.h"
#include "trunkline/engine/fast_forward.h"
#include "trunkline/engine/packet_samples.h"
#include "trunkline/fabric/fault.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/fabric/switch_model.h"
#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"
#include "trunkline/transport/packet_transport.h"
#include "trunkline/transport/transport.h"
#include "trunkline/workload/traffic.h"

// A scenario: what runs on which cluster, as read from YAML (docs/scenario.md).
namespace trunkline {

struct BuiltFabric;
class TaskGraph;

enum class EngineKind : std::uint8_t { kAnalytic, kFlow, kPacket };
[[nodiscard]] const char* ToString(EngineKind kind);

struct ClusterSpec {
  std::shared_ptr<const BuiltFabric> fabric;  // servers included
  std::vector<StaticFault> faults;            // applied to `fabric` already; kept for their places
  std::vector<TimedFault> timed_faults;       // which the packet engine has happen
  std::optional<Time> rerouting;              // of PacketInput
  RoutingPolicy routing = RoutingPolicy::kAdaptive;
  RoutingParameters routing_parameters;
  GpuDirect gpudirect = GpuDirect::kOn;
  TransportModel transport;
  std::string transport_name;  // "infiniband"; "ideal" has no cost of its own
  PlacementSpec placement;
  // What only the packet engine reads: the inside of switches, and packets at the ends.
  SwitchModel switches;
  PacketTransport packet_transport;

  // Endpoints that ranks may be placed on: all, or those that the placement lists. REQUIRES: a
  // fabric.
  [[nodiscard]] std::size_t available() const;
};

// A place in the file, for what is found out about it only when it is run.
struct Origin {
  SourcePosition where;
  std::string excerpt;
};

// `workload.training`: one step of a model under a plan that fits the cluster.
struct TrainingJob {
  ModelConfig model;
  TrainingPlan plan;
  Origin algorithms_origin = {};  // where it names some
  // By the code of what making its step may find wrong: what that is blamed on.
  std::map<std::string, Origin> origins = {};
};

// `workload.collective`: one collective over all ranks at each size.
struct CollectiveJob {
  Primitive primitive = Primitive::kAllReduce;
  std::vector<Bytes> sizes;  // as nccl-tests counts them; as listed
  std::string algorithm = "auto";
  std::optional<Protocol> protocol;  // none: chosen by cost
  std::uint32_t channels = 0;        // 0: chosen by cost
  std::string dtype = "float";
  std::uint32_t element_bytes = 4;
  std::uint32_t root = 0;
  std::uint32_t ranks = 0;
  Origin algorithm_origin;  // where it names one
};

// `workload.trace`: what a file of another tool says each rank does.
struct TraceJob {
  std::shared_ptr<const TaskGraph> graph;
};

// `workload.traffic`: point-to-point messages between all ranks.
struct TrafficInput {
  TrafficSpec spec;
  std::shared_ptr<const TrafficWorkload> messages;  // of a file, instead of `spec`
  SourcePosition where;  // of the workload, for what is found out when its messages are made
  std::string excerpt;
};

// `packet.window`: the part of a step or trace in flows that is run again as packets. One of the
// three is given.
struct WindowSpec {
  // Messages or collectives by label: the `execution`th of each rank, from 1, or all.
  struct Name {
    std::string label;
    std::uint32_t execution = 0;  // 0: all
    SourcePosition where;
    std::string excerpt;
  };
  struct Layers {  // [first, last] of the model, from 0: their last backward pass
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  std::optional<std::pair<Time, Time>> time;
  std::vector<Name> collectives;
  std::optional<Layers> layers;
  SourcePosition where;
  std::string excerpt;
};

using Workload = std::variant<TrainingJob, CollectiveJob, TraceJob, TrafficInput>;

// One of `jobs`, which run on one fabric at once.
struct Job {
  std::string name;
  Workload workload;
  PlacementSpec placement;
  std::uint32_t nodes = 0;  // takes so many whole nodes; 0: any endpoints, one a rank
  Time start;
  std::uint32_t repetitions = 1;
  SourcePosition where;
  std::string excerpt;
};

// `background`: messages that disturb the jobs for as long as they run.
struct Background {
  TrafficJob traffic;          // with arrivals in time
  bool all_endpoints = false;  // beside the jobs' ranks, too; else on what they leave free
  SourcePosition where;
  std::string excerpt;
};

struct Scenario {
  std::string name;  // the file's stem unless `name` says otherwise
  ClusterSpec cluster;
  Workload workload;      // without jobs
  std::vector<Job> jobs;  // or these; with a background a lone workload is one of them
  std::optional<Background> background;
  EngineKind engine = EngineKind::kFlow;
  std::uint64_t seed = 1;
  std::optional<PacketSampling> sampling;      // of traffic as packets
  std::optional<FastForwarding> fast_forward;  // likewise
  std::optional<WindowSpec> window;            // with the flow engine
  std::vector<std::string> assumptions;        // what was chosen where the file is silent
  Diagnostics warnings;
  Origin fabric_origin;    // `cluster.fabric`, else `cluster`
  Origin workload_origin;  // `workload` or `jobs`
  Origin slow_origin;      // a rate below all that networks have, for a run that does not end

  // Whether anything of it runs as packets.
  [[nodiscard]] bool has_packets() const { return engine == EngineKind::kPacket || window; }
  // Whether it can run on several threads: the engine's rules for packets (RunPacket).
  [[nodiscard]] bool uses_threads() const { return has_packets() && !background; }
};

// `key.path=value`, which replaces or adds a key before anything is read; `label` is named as the
// file in diagnostics ("--set 1").
struct Assignment {
  std::string text;
  std::string label;
  bool if_absent = false;    // leaves alone what the file or another assignment says of the key
  std::string written = {};  // what diagnostics show, the value as the user gave it; empty: `text`
};

// Every problem of the file is reported, with its place: unknown keys, units, ranges, and plans
// that contradict the model or the cluster (TL11xx to TL14xx).
//
// `path` may be a pipe: `progress` is told of waiting for it, and `stop` ends that.
[[nodiscard]] Result<Scenario> ReadScenario(const std::string& path,
                                            std::span<const Assignment> assignments = {},
                                            ProgressSink* progress = nullptr,
                                            const StopToken* stop = nullptr);
// `file` names the text in diagnostics; model and node files are sought beside it.
[[nodiscard]] Result<Scenario> ParseScenario(std::string_view text, const std::string& file,
                                             std::span<const Assignment> assignments = {});

}  // namespace trunkline
