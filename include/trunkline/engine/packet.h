#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/engine/engine.h"
#include "trunkline/engine/fast_forward.h"
#include "trunkline/engine/packet_samples.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/engine/traffic.h"
#include "trunkline/fabric/fault.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/fabric/switch_model.h"
#include "trunkline/transport/packet_transport.h"
#include "trunkline/workload/traffic.h"

// Every packet through every queue: credits, PFC, ECN, congestion control, adaptive routing.
namespace trunkline {

struct PacketOptions {
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  Time until = Time::Horizon();                     // the run ends here, finished or not
  std::optional<PacketSampling> sampling = {};      // none: only what is left at the end
  PacketSampleSink* samples = nullptr;              // hears of every sample
  std::optional<FastForwarding> fast_forward = {};  // not together with samples
  ProgressSink* progress = nullptr;
  const StopToken* stop = nullptr;
};

// Everything that a packet run reads beside its workload. All referenced objects outlive the run.
struct PacketInput {
  const Router& router;
  const SwitchModel& switches;
  const PacketTransport& transport;
  std::span<const TimedFault> faults = {};
  // How long after a cable goes down or comes back all queue pairs and switches route over what is
  // left; none: they never do.
  std::optional<Time> rerouting = {};
  // Of a task graph; traffic has these among its options. Links only: a graph has no flows.
  std::optional<PacketSampling> sampling = {};
  PacketSampleSink* samples = nullptr;
  std::uint32_t threads = 1;  // at most: see RunPacket
};

// How often what happened, by kind of packet.
struct PacketCounts {
  std::uint64_t data = 0;
  std::uint64_t ack = 0;      // acknowledgements, negative ones included
  std::uint64_t control = 0;  // congestion notifications, read requests, PAUSE and RESUME
};
struct PacketCounters {
  PacketCounts packets;  // sent by endpoints and, PAUSE and RESUME, switches
  PacketCounts hops;     // network links crossed
  std::uint64_t drops = 0;
  std::uint64_t data_drops = 0;   // of those, data that still had its payload
  std::uint64_t fault_drops = 0;  // of the drops, those on or before a cable that was down
  std::uint64_t trims = 0;
  std::uint64_t marks = 0;
  std::uint64_t pauses = 0;          // PAUSE frames
  std::uint64_t pause_repeats = 0;   // of those, to prolong one
  std::uint64_t pause_expiries = 0;  // pauses that ended because none was repeated in time
  std::uint64_t resumes = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t refused = 0;  // data that came again or, under go-back-N, out of order
  std::uint64_t timeouts = 0;
  std::uint64_t failures = 0;  // queue pairs whose retries were exceeded
  std::uint64_t credit_stalls = 0;
  std::int64_t delivered_bytes = 0;  // payload
};

// One directed network link that carried something.
struct PacketLinkUse {
  LinkId link{};
  std::int64_t wire_bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t marks = 0;
  std::uint64_t pauses = 0;  // that its receiving side sent
  std::uint32_t max_queue_bytes = 0;
  Time until;  // when the last of the packets had left
};

// A class of a link whose receiver paused it.
struct PacketPause {
  // A class of an output of that receiver, for which the packets that paused it were.
  struct Cause {
    LinkId output{};
    double share = 0;  // of the bytes that found no room and paused the input
  };
  LinkId link{};
  std::uint8_t traffic_class = 0;
  std::uint64_t pauses = 0;   // repeats apart
  Time paused;                // how long its sender stood still
  std::vector<Cause> causes;  // largest first
};

// A message of a task graph on the chain of those that led to its end.
struct CriticalMessage {
  RankId source{};
  RankId destination{};
  Time begin;
  Time taken;  // until it was delivered …
  Time alone;  // … and what it takes on the idle path
  // Of the links that it crossed for certain, the one whose longest queue of the whole run takes
  // longest to drain.
  LinkId queue{};
  std::uint32_t max_queue_bytes = 0;
};

struct PacketReport {
  RunStatus status = RunStatus::kFinished;
  Time end;  // of the last delivery
  std::uint64_t events = 0;
  PacketCounters counters;
  std::vector<PacketLinkUse> links;  // by link id
  std::vector<PacketPause> pauses;   // by link id and class
  std::vector<FlowRecord> flows;
  std::optional<PacketSamples> samples;     // with PacketOptions::sampling
  std::optional<SkippedTime> fast_forward;  // with PacketOptions::fast_forward
  // Of a task graph: from the first message to the last of the ranks that are awaited, each after
  // the one that had last arrived at its rank when it began. Empty where there were more messages
  // than are kept.
  std::vector<CriticalMessage> critical;
  // What did not finish, and why, for people; empty when all did.
  std::vector<std::string> stuck;
};

// What is wrong or unwise about switches and ends for a fabric, some of whose cables may fail
// during the run, and its routing: errors and warnings TL1801 to TL1828, without a place.
[[nodiscard]] Diagnostics CheckPacketSettings(const Fabric& fabric, RoutingPolicy routing,
                                              const SwitchModel& switches,
                                              const PacketTransport& transport,
                                              bool cables_fail = false,
                                              const RoutingParameters& parameters = {});

// A task graph as it ran, and what that took of the network. `packets.end` and `packets.flows` are
// left as they are: tasks and their times are in the timeline.
struct PacketTimeline {
  Timeline timeline;
  PacketReport packets;
  Diagnostics warnings;  // TL1824
};

// Runs a task graph with every message between nodes as packets, those of each connection (channel
// of a communicator between two members, or peer) on queue pairs of its own. Messages inside a node
// are fluid flows, as in RunFlow. Folding and the memo do not apply. TL1603: a rendezvous; TL18xx:
// settings that contradict each other. REQUIRES: both inputs name one router.
//
// The buses between a GPU and its NIC delay a message by their latency, and no connection moves
// faster than the narrowest of its buses lets it; connections do not slow each other there. Where
// they might, the run warns (TL1824).
//
// Results do not depend on the number of threads. One runs graphs in which not all ranks are
// awaited (TaskGraph), whose schedules have slots, or whose ranks on different nodes meet beside
// the network.
[[nodiscard]] Result<PacketTimeline> RunPacket(const EngineInput& input, const PacketInput& packets,
                                               const EngineOptions& options);

// Runs point-to-point traffic. `placement` says where the ranks are. TL18xx: settings that
// contradict each other.
[[nodiscard]] Result<PacketReport> RunPacketTraffic(const PacketInput& input,
                                                    const TrafficWorkload& traffic,
                                                    const Placement& placement,
                                                    const PacketOptions& options);

}  // namespace trunkline
