#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

// One message from one rank to another.
struct TrafficFlow {
  static constexpr std::uint32_t kNoTrigger = UINT32_MAX;

  RankId source{};
  RankId destination{};
  Bytes bytes;
  // When it is posted: after the start of the run or, with `trigger`, after the trigger fires.
  Time start;
  std::uint32_t trigger = kNoTrigger;        // fires it; kNoTrigger: it starts by itself
  std::uint32_t when_sent = kNoTrigger;      // activated when the sender knows it has arrived
  std::uint32_t when_received = kNoTrigger;  // activated when its last byte arrives
  std::uint8_t traffic_class = 0;            // data class: priority or virtual lane
  std::uint16_t job = 0;                     // index into TrafficWorkload::jobs
};

// Starts flows when others have ended.
//   kOneShot    the first activation starts all its flows
//   kMultiShot  the k-th activation starts its k-th flow
//   kBarrier    the count-th activation starts all its flows
struct TrafficTrigger {
  enum class Kind : std::uint8_t { kOneShot, kMultiShot, kBarrier };
  Kind kind = Kind::kOneShot;
  std::uint32_t count = 1;
  std::vector<std::uint32_t> flows;
};

// Point-to-point messages, from a generator or a file.
struct TrafficWorkload {
  std::vector<TrafficFlow> flows;  // those without a trigger by start
  std::vector<TrafficTrigger> triggers;
  std::vector<std::string> jobs;
  std::uint32_t ranks = 0;
  // What is measured: flows that start in [measure_from, measure_until).
  Time measure_from;
  Time measure_until = Time::Max();
  double offered_load = 0;  // share of the hosts' rate that was asked for; 0: not defined
};

}  // namespace trunkline
