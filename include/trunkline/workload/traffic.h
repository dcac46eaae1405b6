#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"
#include "trunkline/workload/flow_sizes.h"

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
  bool raw = false;                          // no congestion control holds it back
  bool read = false;      // the destination reads it: a request goes to the source first
  std::uint16_t job = 0;  // index into TrafficWorkload::jobs
};

// Starts flows when others have ended.
//   kOneShot    the first activation starts all its flows
//   kMultiShot  the k-th activation starts its k-th flow
//   kBarrier    the count-th activation starts all its flows
// One-shots and barriers may activate another trigger as they start their flows.
struct TrafficTrigger {
  enum class Kind : std::uint8_t { kOneShot, kMultiShot, kBarrier };
  Kind kind = Kind::kOneShot;
  std::uint32_t count = 1;
  std::vector<std::uint32_t> flows;
  std::uint32_t then = TrafficFlow::kNoTrigger;
};

// Point-to-point messages, from a generator or a file.
struct TrafficWorkload {
  std::vector<TrafficFlow> flows;  // in the order of the file or, generated, of starts
  std::vector<TrafficTrigger> triggers;
  std::vector<std::string> jobs;
  std::uint32_t ranks = 0;
  // What is measured: flows that start in [measure_from, measure_until).
  Time measure_from;
  Time measure_until = Time::Max();
  // Payload that was asked for, as a share of what the sending hosts' links carry in bits; the
  // greatest of all jobs. 0: not defined.
  double offered_load = 0;
  Diagnostics warnings;  // what of the input was not read
};

// --- Generators ---------------------------------------------------------------------------------

// One key of a pattern, as documentation and readers see it.
struct TrafficKey {
  enum class Type : std::uint8_t { kCount, kShare };  // a whole number; a number

  std::string name;
  Type type = Type::kCount;
  double min = 0;
  double max = 0;
  std::string fallback;  // what holds when the key is absent, in words; empty: it must be given
  std::string summary;
};

// Who sends to whom.
struct TrafficPattern {
  std::string name;  // "permutation"
  std::string summary;
  std::vector<TrafficKey> keys;
};

// Every pattern with its keys, by name.
[[nodiscard]] std::vector<TrafficPattern> TrafficPatterns();

struct TrafficValue {
  double value = 0;
  SourcePosition where = {};
  std::string excerpt = {};
};

// When a job's messages are posted.
//   kAtOnce   each sender posts `rounds` rounds of the pattern at the start
//   kPoisson  each sender posts at random moments, at a mean rate that makes `load`
//   kOnOff    the same, but only during on-times; on- and off-times are exponential
enum class Arrivals : std::uint8_t { kAtOnce, kPoisson, kOnOff };
[[nodiscard]] const char* ToString(Arrivals arrivals);
[[nodiscard]] std::optional<Arrivals> ParseArrivals(std::string_view text);

struct TrafficJob {
  std::string name = "traffic";
  std::string pattern = "permutation";
  std::map<std::string, TrafficValue> values;  // the pattern's own keys
  FlowSizes sizes = FlowSizes::Fixed(Bytes(1 << 20));
  // The ranks that take part: [first_rank, first_rank + ranks); 0: all from first_rank on.
  std::uint32_t first_rank = 0;
  std::uint32_t ranks = 0;
  Time start;  // nothing of the job is posted before
  Arrivals arrivals = Arrivals::kAtOnce;
  std::uint32_t rounds = 1;  // kAtOnce
  // kPoisson, kOnOff: payload that a sender posts, as a share of what its link carries in bits. In
  // (0, 1].
  double load = 0;
  Time mean_on;   // kOnOff
  Time mean_off;  // kOnOff
  std::uint8_t traffic_class = 0;
  bool raw = false;
  bool read = false;
};

// Jobs that share ranks and a clock. With arrivals in time, messages are posted in
// [0, warm_up + window + drain): those of the window are measured, and meet the same load to their
// end.
struct TrafficSpec {
  std::vector<TrafficJob> jobs;
  Time warm_up;
  Time window;  // 0: everything is measured (arrivals at once only)
  Time drain;
  std::uint64_t most_flows = std::uint64_t{1} << 26;
  bool may_be_empty = false;  // with a low load and a short time, no message may be posted
};

// The messages that a specification stands for. Every draw is a function of (seed, job, rank,
// index). `host_rate` is that of one rank's network link.
//
// TL1750 unknown pattern, TL1751 key, TL1752 value out of range, TL1753 contradiction, TL1754 too
// many messages.
[[nodiscard]] Result<TrafficWorkload> MakeTraffic(const TrafficSpec& spec, std::uint32_t ranks,
                                                  Rate host_rate, std::uint64_t seed);

// What flows that are posted by themselves in the measured time ask of links of `host_rate`, as
// shares of what these carry in bits.
struct OfferedLoad {
  double mean_sent = 0;      // over ranks that send anything
  double most_sent = 0;      // of one rank
  double most_received = 0;  // by one rank: above 1, the pattern itself overloads it
};
// All zero when the measured time is not bounded.
[[nodiscard]] OfferedLoad MeasureOfferedLoad(const TrafficWorkload& traffic, Rate host_rate);

}  // namespace trunkline
