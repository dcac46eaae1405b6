#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace trunkline {

enum class PacketKind : std::uint8_t {
  kData,
  kAck,           // cumulative: everything before `psn` has arrived
  kNack,          // the receiver misses `psn`
  kNotification,  // congestion notification (CNP)
  kRead,          // a receiver asks for data: request number `psn`, `arrived` bytes
  kPause,         // PFC: `psn` is the mask of classes
  kResume,
};
inline constexpr std::size_t kPacketKinds = 7;

// A packet wherever it is: in a queue, on a wire. One cache line.
struct alignas(64) Packet {
  static constexpr std::uint8_t kMarked = 1;    // ECN: congestion experienced
  static constexpr std::uint8_t kLast = 2;      // of its message
  static constexpr std::uint8_t kBackward = 4;  // from the receiver to the sender of its queue pair
  static constexpr std::uint8_t kTrimmed = 8;   // its payload was cut off on the way
  static constexpr std::uint8_t kAgain = 16;    // a retransmission
  static constexpr std::uint8_t kSpoilt = 32;   // by bit errors on the cable it is on
  static constexpr std::uint8_t kAsks = 64;     // for an acknowledgement: the window is full

  std::uint32_t next = 0;  // in the list it is in; on a wire the link after it, or kNone: not known
  std::uint32_t queue_pair = 0;
  std::uint32_t psn = 0;
  std::uint32_t path = 0;  // source routed: its links in PathTable; else its entropy
  std::int64_t ready = 0;  // when its last bit is in (cut-through: later than its arrival)
  std::int64_t sent = 0;   // when its first bit left the sender; an ACK echoes it
  std::uint16_t payload = 0;
  std::uint16_t wire = 0;  // bytes on the wire, gap and preamble included
  PacketKind kind = PacketKind::kData;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop = 0;  // index of the next link in its path
  std::uint8_t flags = 0;
  std::uint32_t ingress = 0;   // the link it came in by: whose buffer holds it
  std::uint32_t received = 0;  // ACK: packets that have arrived so far
  std::uint16_t marked = 0;    // ACK: of the packets it acknowledges
  // ACK, beyond the packets before `psn`: of those from psn + ahead on, which have arrived.
  std::uint16_t ahead = 0;
  std::uint16_t times_down = 0;    // of the cable that it is on, before it left (modulo 2^16)
  std::uint8_t ingress_class = 0;  // the class that it came in by
  std::uint8_t stage = 0;          // of its route: see shard_guiding.h
  std::uint64_t arrived = 0;

  // 1: it goes from the receiver to the sender, else 0. For arithmetic in place of a branch, which
  // would be mispredicted where both kinds come.
  [[nodiscard]] std::uint32_t backward() const { return flags / kBackward % 2U; }

  // In `stage`: there is room in the next buffer that is the packet's already.
  static constexpr std::uint8_t kClaimed = 32;
  [[nodiscard]] bool claimed() const { return (stage & kClaimed) != 0; }
};
static_assert(sizeof(Packet) == 64);

// Packets by id, recycled last in first out so that those in use stay in cache. They never move:
// addresses for all there could be are reserved at once, memory is taken as it is needed.
class PacketPool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // `many`: to be held in huge pages from the beginning, though to clear one costs more than a
  // small run.
  explicit PacketPool(bool many = false);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  [[nodiscard]] Packet& operator[](std::uint32_t id) { return packets_[id]; }
  [[nodiscard]] const Packet& operator[](std::uint32_t id) const { return packets_[id]; }
  [[nodiscard]] std::uint32_t Take() {
    ++in_use_;
    if (free_ == kNone) return Grow();
    const std::uint32_t id = std::exchange(free_, packets_[free_].next);
    if (free_ != kNone) Prefetch(free_);
    return id;
  }
  void Give(std::uint32_t id) {
    packets_[id].next = free_;
    free_ = id;
    --in_use_;
  }
  [[nodiscard]] std::uint64_t in_use() const { return in_use_; }
  [[gnu::always_inline]] void Prefetch(std::uint32_t id) const {
    __builtin_prefetch(&packets_[id], 1);
  }

 private:
  std::uint32_t Grow();

  Packet* packets_ = nullptr;
  std::uint32_t count_ = 0;  // of packets that have ever been taken
  std::uint32_t free_ = kNone;
  std::uint64_t in_use_ = 0;
  bool many_;
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
};

}  // namespace trunkline
