#pragma once

#include <cstdint>

#include "trunkline/base/units.h"

namespace trunkline {

// What the application hears when an event has been handled.
struct PacketNotice {
  enum class Kind : std::uint8_t { kSent, kDelivered, kAcknowledged, kFailed };
  Kind kind;
  std::uint32_t queue_pair;
  Time time;
};

// Who posts messages and hears what became of them. Called between events, at the time of the one
// that brought the news: it may post and add queue pairs.
class PacketApplication {
 public:
  virtual ~PacketApplication() = default;
  // The oldest message of the queue pair that had not been delivered now is, whole and in order.
  virtual void OnDelivered(std::uint32_t queue_pair, Time now) = 0;
  // The sender knows that its oldest unacknowledged message has arrived.
  virtual void OnAcknowledged(std::uint32_t queue_pair, Time now) = 0;
  // Retries are exceeded: the queue pair sends no more, and what it has not acknowledged never will
  // be.
  virtual void OnError(std::uint32_t /*queue_pair*/, Time /*now*/) {}
  // The last bit of a message leaves its NIC at `end`, which may be later than now.
  virtual void OnSent(std::uint32_t queue_pair, Time end) = 0;
  // A moment asked for by PostAt.
  virtual void OnPost(std::uint32_t entity, Time now) = 0;
  // What the application of another shard has sent (Shard::Signal), some time after `time`: between
  // windows.
  virtual void OnSignal(std::uint32_t /*what*/, Time /*time*/) {}
};

}  // namespace trunkline
