#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/network.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/packet_network.h"
#include "trunkline/base/ids.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// The connections through the network, each on queue pairs of its own, and their messages on the
// way. What the sender of a line writes and what its receiver does are apart, since they may be in
// different shards, which run side by side: a shard reads what another wrote only after a packet
// that was sent later has come from there.
class PacketLines {
 public:
  struct Line {
    std::uint32_t connection = 0;
    RankId source_rank{};
    RankId destination_rank{};
    std::uint32_t number = 0;  // among those of its job: paths are chosen by it
    DeviceId source{};         // NIC or host
    DeviceId destination{};
    std::int64_t payload_per_128 = 128;  // of its protocol: PayloadPer128
    FlowRate bus_rate;                   // payload that the buses at its ends let pass …
    Time flight;                         // … which then takes so long through the network
    bool awaited = true;  // the run lasts until its programs have ended: no background
    // Buses that other lines crowd.
    std::vector<LinkId> sending = {};
    std::vector<LinkId> receiving = {};
  };
  static constexpr std::uint32_t kNotCarried = UINT32_MAX;

  // A message on its way: its part i is on the line's queue pair i.
  struct Message {
    std::int64_t bytes = 0;       // on the wire
    std::int64_t part_bytes = 0;  // of all parts but the last
    Time begin;
    Time sent;                 // the latest end of a part so far
    Time least;                // its last byte has not passed the buses before
    Message* next = nullptr;   // of the line
    std::uint32_t unsent = 0;  // parts
    // A bit for each part that has not arrived, for the receiver, and for each of which the sender
    // does not know that it has.
    std::uint32_t missing = 0;
    std::uint32_t unacknowledged = 0;
  };
  // The messages of a line, first in first out. The sender keeps one until it knows that the next
  // has arrived, too, since it is from there that the receiver finds the next. Only the newest may
  // have parts that have not left.
  struct Sending {
    Message* first = nullptr;  // of all
    Message* oldest = nullptr;
    Message* newest = nullptr;
  };
  struct Receiving {
    Message** oldest = nullptr;  // where the oldest that has not arrived is named, once it is sent
    std::uint32_t whole = 0;     // messages that have arrived, and of which nobody has been told
  };

  // `line_of`: by connection, index into `lines` or kNotCarried. REQUIRES: the settings have been
  // checked (CheckPacketSettings).
  PacketLines(const PacketInput& input, std::vector<CableChange> faults,
              std::vector<std::uint32_t> line_of, std::vector<Line> lines);

  // Makes the queue pairs. REQUIRES: the plant has been divided among shards.
  Result<void> SetUp();

  [[nodiscard]] const PacketInput& input() const { return input_; }
  [[nodiscard]] Plant& plant() { return plant_; }
  [[nodiscard]] const Plant& plant() const { return plant_; }
  [[nodiscard]] std::uint32_t line_of(std::uint32_t connection) const {
    return line_of_[connection];
  }
  [[nodiscard]] const Line& line(std::uint32_t index) const { return lines_[index]; }
  [[nodiscard]] Sending& sending(std::uint32_t line) { return sending_[line]; }
  [[nodiscard]] Receiving& receiving(std::uint32_t line) { return receiving_[line]; }

  // A line has as many queue pairs side by side; they follow one another.
  [[nodiscard]] std::uint32_t queue_pairs() const { return input_.transport.queue_pairs; }
  [[nodiscard]] std::uint32_t line_of_pair(std::uint32_t queue_pair) const {
    return queue_pair / queue_pairs();
  }
  // Tells the paths of a line's queue pair `part` from those of others.
  [[nodiscard]] std::uint64_t FlowOf(std::uint32_t line, std::uint32_t part) const {
    return std::uint64_t{lines_[line].number} * queue_pairs() + part;
  }

 private:
  const PacketInput& input_;
  NetworkPaths paths_;
  Plant plant_;
  std::vector<std::uint32_t> line_of_;  // by connection
  std::vector<Line> lines_;
  std::vector<Sending> sending_;      // by line
  std::vector<Receiving> receiving_;  // by line
};

}  // namespace trunkline
