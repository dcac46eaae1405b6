#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/engine/packet.h"
#include "trunkline/engine/traffic.h"

namespace trunkline {

// The share of flows that completed within a time.
struct CompletionPoint {
  double fct_s = 0;
  double share = 0;
};

struct JobTraffic {
  std::string name;
  TrafficStatistics statistics;
};

// A class of a link whose receiver paused it, and the output there that its packets waited for.
struct PausedLink {
  std::string from;
  std::string to;
  std::uint8_t traffic_class = 0;
  std::uint64_t pauses = 0;
  Time paused;           // how long its sender stood still
  std::string cause_to;  // where the fullest of these outputs leads; empty: not known
  double cause_share = 0;
};

// What became of `workload.traffic`.
struct TrafficResult {
  TrafficStatistics statistics;             // of the measured flows of all jobs
  std::vector<JobTraffic> jobs;             // where there are several
  std::vector<CompletionPoint> completion;  // of the measured flows, at most 200 points
  std::uint64_t unposted = 0;  // flows that never began: what they wait for did not happen
  double offered_load = 0;     // as asked for; 0: not defined
  std::optional<Saturation> saturation;
  std::optional<PacketCounters> counters;   // of an engine of packets
  std::optional<SkippedTime> fast_forward;  // where it was to skip what repeats
  std::vector<PausedLink> paused;           // longest first, the worst thousand
  std::vector<std::string> stuck;           // what did not finish, and why
};

}  // namespace trunkline
