#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

// What happened over time in a run of packets.
namespace trunkline {

// What to note, and how often.
struct PacketSampling {
  Time every;
  std::uint32_t links = 32;  // the fullest: of each interval for a sink, of the run for a report
  std::uint32_t flows = 16;  // the largest of the workload, first come first where they are alike
};

// What an interval brought.
struct PacketSample {
  struct Link {
    LinkId link{};
    std::int64_t wire_bytes = 0;         // of frames that began to leave
    std::uint32_t peak_queue_bytes = 0;  // the longest that its queue was
    std::uint32_t pauses = 0;            // PAUSE frames that its receiving side sent
  };
  struct Flow {
    std::uint32_t flow = 0;
    std::int64_t delivered_bytes = 0;  // payload, counted in whole packets until the last is in
  };
  Time from;
  Time until;
  std::vector<Link> links;  // fullest first; those with something to tell
  std::vector<Flow> flows;  // by index; those that moved
};

// Hears of every interval in which anything happened, in order, as the run goes.
class PacketSampleSink {
 public:
  virtual ~PacketSampleSink() = default;
  virtual void Take(const PacketSample& sample) = 0;
};

// The intervals of a run, drawn together in pairs as often as it takes to keep them few.
struct PacketSamples {
  struct Link {
    LinkId link{};
    std::vector<std::int64_t> wire_bytes;  // by interval, as those that follow
    std::vector<std::uint32_t> peak_queue_bytes;
    std::vector<std::uint32_t> pauses;
  };
  struct Flow {
    std::uint32_t flow = 0;
    std::vector<std::int64_t> delivered_bytes;  // by interval
  };
  Time every;               // as asked for
  std::uint64_t taken = 0;  // samples: intervals of that length in which anything happened
  Time width;               // of an interval
  std::size_t intervals = 0;
  std::vector<Link> links;  // by longest queue, then by bytes
  std::vector<Flow> flows;  // by index
};

}  // namespace trunkline
