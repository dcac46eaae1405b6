#include "engine/coupled/packet_carrier.h"

#include <algorithm>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Events after which the caller may look around.
constexpr std::uint64_t kSlice = 4096;
// Parts of a message are cut at multiples of this.
constexpr std::int64_t kPartUnit = 128;

}  // namespace

PacketCarrier::Message& PacketCarrier::NewMessage() {
  if (free_message_ == nullptr) return messages_.emplace_back();
  Message& message = *free_message_;
  free_message_ = message.next;
  return message = {};
}

void PacketCarrier::Send(std::uint32_t connection, Bytes bytes, Time begin) {
  TL_CHECK(begin >= shard_->now(), "a message begins in the past", begin.ps(), shard_->now().ps());
  const std::uint32_t line = lines_.line_of(connection);
  Message& message = NewMessage();
  const std::int64_t payload = lines_.line(line).payload_per_128;
  message.bytes = (bytes.count() * 128 + payload - 1) / payload;
  const std::int64_t unit = kPartUnit * lines_.queue_pairs();
  message.part_bytes = std::max<std::int64_t>(1, (message.bytes + unit - 1) / unit) * kPartUnit;
  message.unsent = static_cast<std::uint32_t>(
      std::max<std::int64_t>(1, (message.bytes + message.part_bytes - 1) / message.part_bytes));
  message.missing = static_cast<std::uint32_t>((std::uint64_t{1} << message.unsent) - 1);
  message.unacknowledged = message.missing;
  message.begin = begin;
  std::uint64_t surplus = 0;
  message.least = begin + std::min(FluidTime(bytes, lines_.line(line).bus_rate, surplus),
                                   Time::Horizon() - begin);
  PacketLines::Sending& sending = lines_.sending(line);
  if (sending.newest == nullptr) {
    sending.first = sending.oldest = &message;
  } else {
    sending.newest->next = &message;
  }
  sending.newest = &message;
  shard_->PostAt(line, begin);
}

void PacketCarrier::OnPost(std::uint32_t line, Time now) {
  const Message& message = *lines_.sending(line).newest;
  std::int64_t left = message.bytes;
  for (std::uint32_t part = 0; part < message.unsent; ++part) {
    const std::uint32_t queue_pair = line * lines_.queue_pairs() + part;
    const std::int64_t bytes = std::min(left, message.part_bytes);
    const Plant& plant = lines_.plant();
    const std::int64_t packets = bytes / plant.transport.mtu.count() + 1;
    if (packets >= INT64_C(0x7fffffff) - plant.senders[queue_pair].end) {
      if (!overrun_) overrun_ = {now, queue_pair};
      is_void_.store(true, std::memory_order_relaxed);
      return;
    }
    shard_->Post(queue_pair, bytes);
    left -= message.part_bytes;
  }
}

void PacketCarrier::Tell(News::Kind kind, std::uint32_t line, Time time, Time begin) {
  news_.push_back({kind, lines_.line(line).connection, time, begin});
  shard_->Stop();
}

void PacketCarrier::OnSent(std::uint32_t queue_pair, Time end) {
  const std::uint32_t line = lines_.line_of_pair(queue_pair);
  Message& message = *lines_.sending(line).newest;
  message.sent = std::max(message.sent, end);
  if (--message.unsent > 0) return;
  Tell(News::Kind::kSent, line, std::max(message.sent, message.least), message.begin);
}

void PacketCarrier::OnDelivered(std::uint32_t queue_pair, Time now) {
  const std::uint32_t line = lines_.line_of_pair(queue_pair);
  const std::uint32_t part = PartOf(queue_pair);
  PacketLines::Receiving& receiving = lines_.receiving(line);
  Message* message = *receiving.oldest;
  while ((message->missing & part) == 0) message = message->next;
  message->missing ^= part;
  if (message->missing == 0) ++receiving.whole;
  // While one has arrived, the oldest has been sent: to look for it before would be too early.
  for (; receiving.whole > 0 && (*receiving.oldest)->missing == 0; --receiving.whole) {
    TellDelivered(line, **receiving.oldest, now);
    receiving.oldest = &(*receiving.oldest)->next;
  }
}

void PacketCarrier::TellDelivered(std::uint32_t line, const Message& message, Time now) {
  const PacketLines::Line& of = lines_.line(line);
  Tell(News::Kind::kDelivered, line, std::max(now, message.least + of.flight), message.begin);
  if (!of.awaited) return;
  log_.Add({.source = of.source_rank,
            .destination = of.destination_rank,
            .line = line,
            .bytes = message.bytes,
            .begin = message.begin,
            .delivered = now});
}

void PacketCarrier::OnAcknowledged(std::uint32_t queue_pair, Time /*now*/) {
  PacketLines::Sending& sending = lines_.sending(lines_.line_of_pair(queue_pair));
  const std::uint32_t part = PartOf(queue_pair);
  Message* message = sending.oldest;
  while ((message->unacknowledged & part) == 0) message = message->next;
  message->unacknowledged ^= part;
  while (sending.oldest->unacknowledged == 0 && sending.oldest != sending.newest &&
         sending.oldest->next->unacknowledged == 0) {
    Message& done = *sending.oldest;
    sending.oldest = done.next;
    done.next = free_message_;
    free_message_ = &done;
  }
}

bool PacketCarrier::Run(Time limit) {
  const Time end = std::min(limit, Time::Horizon());
  if (shard_->next_time() >= end) return false;
  shard_->Run(end, kSlice);
  return true;
}

}  // namespace trunkline
