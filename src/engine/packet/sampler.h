#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/packet/plant.h"
#include "trunkline/engine/packet_samples.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// Reads what ports and receivers have counted at multiples of an interval, between events, so that
// a hop costs what it costs without. Keeps every link at full resolution for as long as that fits;
// which links are the fullest is known at the end.
class Sampler {
 public:
  // The plant's queue pairs are the flows of `traffic`, by index. `sink` may be null.
  Sampler(Plant& plant, const TrafficWorkload& traffic, const PacketSampling& sampling,
          PacketSampleSink* sink);

  // When to sample next, given the time of the next event: the end of the interval under way or,
  // where nothing can happen in it, of that of the event.
  [[nodiscard]] Time Next(Time next_event) const;
  // Whether samples are taken at `time`.
  [[nodiscard]] bool IsDue(Time time) const { return time.ps() % sampling_.every.ps() == 0; }
  // Notes what happened since the last sample. REQUIRES: all events before `at` have been handled,
  // and all ports have caught up.
  void Take(Time at);
  // What is left at the end of the run, and the whole. Ports again have their longest queues.
  [[nodiscard]] PacketSamples Finish(Time end);

 private:
  struct Cell {
    std::int64_t wire_bytes = 0;
    std::uint32_t peak_queue_bytes = 0;
    std::uint32_t pauses = 0;
  };

  [[nodiscard]] std::uint32_t Pauses(std::size_t link) const;
  [[nodiscard]] std::int64_t Delivered(std::size_t place) const;
  bool ReadLinks();
  bool ReadFlows();
  void Tell(Time until);
  void Keep(Time at);
  void Halve();
  void KeepFullest(std::vector<std::uint32_t>& links, const std::vector<Cell>& cells) const;

  Plant& plant_;
  const TrafficWorkload& traffic_;
  const PacketSampling sampling_;
  PacketSampleSink* sink_;
  Time quiet_;  // without an event for so long, nothing is on any wire
  Time last_;   // the newest sample, or the start
  Time width_;  // of a row
  std::size_t most_rows_;
  std::size_t rows_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<std::uint32_t> flows_;       // chosen
  std::vector<Cell> total_;                // by link: bytes and pauses at the last sample, and
                                           // the longest queue until then
  std::vector<Cell> change_;               // by link, in the sample being taken
  std::vector<Cell> cells_;                // [row x links + link]
  std::vector<std::int64_t> delivered_;    // by chosen flow, at the last sample
  std::vector<std::int64_t> flow_change_;  // by chosen flow
  std::vector<std::int64_t> flow_cells_;   // [row x flows + flow]
};

}  // namespace trunkline
