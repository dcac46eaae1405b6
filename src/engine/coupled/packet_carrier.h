#pragma once

#include <cstdint>
#include <vector>

#include "engine/coupled/critical_messages.h"
#include "engine/flow/message_carrier.h"
#include "engine/flow/network.h"
#include "engine/packet/event_rate.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/sampler.h"
#include "engine/packet/shard_set.h"
#include "trunkline/base/ids.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// Carries messages between nodes as packets, those of each connection on queue pairs of its own.
class PacketCarrier : public MessageCarrier, private PacketApplication {
 public:
  // A connection through the network.
  struct Line {
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

  // `line_of`: by connection, index into `lines` or kNotCarried. REQUIRES: the settings have been
  // checked (CheckPacketSettings).
  PacketCarrier(const PacketInput& input, std::vector<CableChange> faults,
                std::vector<std::uint32_t> line_of, std::vector<Line> lines, std::uint32_t ranks);

  [[nodiscard]] bool Carries(std::uint32_t connection) const override {
    return line_of_[connection] != kNotCarried;
  }
  void Send(std::uint32_t connection, Bytes bytes, Time begin) override;
  bool Run(Time limit) override;
  [[nodiscard]] std::string Progress() const override;

  // Why the run is void, if it is.
  [[nodiscard]] const Diagnostics& problems() const { return problems_; }
  // Whether packets wait for each other for ever. REQUIRES: Run has returned false.
  [[nodiscard]] bool FindDeadlock();
  // What it took of the network until `end`, when the run ended.
  [[nodiscard]] PacketReport Report(RunStatus status, Time end);
  [[nodiscard]] Time last_event() const { return shards_.last_event(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A message on its way: its part i is on the line's queue pair i.
  struct Message {
    std::int64_t bytes = 0;       // on the wire
    std::int64_t part_bytes = 0;  // of all parts but the last
    Time begin;
    Time sent;   // the latest end of a part so far
    Time least;  // its last byte has not passed the buses before
    std::uint32_t next = kNone;
    std::uint32_t unsent = 0;   // parts
    std::uint32_t missing = 0;  // a bit for each part that has not arrived
  };
  // The messages of a line that have not arrived, first in first out. Only the newest may have
  // parts that have not left.
  struct Queue {
    std::uint32_t connection = 0;
    std::uint32_t first_pair = kNone;
    std::uint32_t oldest = kNone;
    std::uint32_t newest = kNone;
  };

  void OnPost(std::uint32_t line, Time now) override;
  void OnSent(std::uint32_t queue_pair, Time end) override;
  void OnDelivered(std::uint32_t queue_pair, Time now) override;
  void OnAcknowledged(std::uint32_t /*queue_pair*/, Time /*now*/) override {}
  void OnError(std::uint32_t queue_pair, Time now) override;

  void Sample(Time known);
  [[nodiscard]] CriticalMessage Describe(const MessageLog::Entry& entry) const;
  [[nodiscard]] ShardSet::Kernel& shard() { return shards_.shard(0); }
  [[nodiscard]] std::uint32_t queue_pairs() const { return input_.transport.queue_pairs; }
  // Tells the paths of the line's queue pair `part` from those of others.
  [[nodiscard]] std::uint64_t FlowOf(const Line& line, std::uint32_t part) const {
    return std::uint64_t{line.number} * queue_pairs() + part;
  }
  // A line has as many queue pairs side by side, from the time of its first message on.
  void Open(std::uint32_t line);
  [[nodiscard]] std::uint32_t line_of_pair(std::uint32_t queue_pair) const {
    return open_[queue_pair / queue_pairs()];
  }
  Result<void> SetUp(std::uint32_t line, std::uint32_t part);
  Result<void> PostPart(std::uint32_t line, std::uint32_t part, std::int64_t bytes);
  void Tell(News::Kind kind, std::uint32_t line, Time time, Time begin);

  const PacketInput& input_;
  NetworkPaths paths_;
  Plant plant_;
  ShardSet shards_;
  std::vector<std::uint32_t> line_of_;  // by connection
  std::vector<Line> lines_;
  std::vector<Queue> queues_;        // by line
  std::vector<std::uint32_t> open_;  // lines that have queue pairs, in the order of these
  std::vector<char> set_up_;         // by queue pair
  std::vector<Message> messages_;
  std::uint32_t free_message_ = kNone;
  MessageLog log_;
  std::optional<Sampler> sampler_;
  Time next_sample_ = Time::Max();
  mutable EventRate rate_;
  Time next_look_;  // for a deadlock
  bool deadlocked_ = false;
  std::vector<std::string> stuck_;
  Diagnostics problems_;
};

}  // namespace trunkline
