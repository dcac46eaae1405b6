#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/coupled/critical_messages.h"
#include "engine/coupled/packet_lines.h"
#include "engine/flow/message_carrier.h"
#include "engine/packet/packet_application.h"
#include "engine/packet/shard_set.h"

namespace trunkline {

// Carries messages between nodes as packets: those that are sent or received in one shard.
class PacketCarrier : public MessageCarrier, public PacketApplication {
 public:
  // What ended the run of a line, or of all.
  struct Failure {
    Time time;
    std::uint32_t queue_pair = 0;
    auto operator<=>(const Failure&) const = default;
  };

  explicit PacketCarrier(PacketLines& lines) : lines_(lines) {}
  // The shard whose packets these are, before anything is sent.
  void Use(ShardSet::Kernel& shard) { shard_ = &shard; }

  [[nodiscard]] bool Carries(std::uint32_t connection) const override {
    return lines_.line_of(connection) != PacketLines::kNotCarried;
  }
  void Send(std::uint32_t connection, Bytes bytes, Time begin) override;
  bool Run(Time limit) override;

  // In order of delivery.
  [[nodiscard]] const std::vector<MessageLog::Entry>& log() const { return log_.entries(); }
  // Queue pairs that have failed.
  [[nodiscard]] const std::vector<Failure>& failed() const { return failed_; }
  // The first queue pair whose packet numbers did not suffice: the run is void. To be asked from
  // other threads, too.
  [[nodiscard]] bool is_void() const { return is_void_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::optional<Failure>& overrun() const { return overrun_; }

  void OnPost(std::uint32_t line, Time now) override;
  void OnSent(std::uint32_t queue_pair, Time end) override;
  void OnDelivered(std::uint32_t queue_pair, Time now) override;
  void OnAcknowledged(std::uint32_t queue_pair, Time now) override;
  void OnError(std::uint32_t queue_pair, Time now) override {
    failed_.push_back({now, queue_pair});
  }

 private:
  using Message = PacketLines::Message;

  Message& NewMessage();
  [[nodiscard]] std::uint32_t PartOf(std::uint32_t queue_pair) const {
    return std::uint32_t{1} << queue_pair % lines_.queue_pairs();
  }
  void TellDelivered(std::uint32_t line, const Message& message, Time now);
  void Tell(News::Kind kind, std::uint32_t line, Time time, Time begin);

  PacketLines& lines_;
  ShardSet::Kernel* shard_ = nullptr;
  std::deque<Message> messages_;  // where each stays
  Message* free_message_ = nullptr;
  MessageLog log_;
  std::vector<Failure> failed_;
  std::optional<Failure> overrun_;
  std::atomic<bool> is_void_ = false;
};

}  // namespace trunkline
