#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trunkline/base/units.h"

namespace trunkline {

// What can happen. At one moment ports finish before packets arrive, so that a packet finds the
// port that has just become idle.
enum class PacketEventKind : std::uint8_t {
  kFault,     // entity: index into the faults
  kPortDone,  // entity: the link whose sending side finished a frame or may begin one
  kRefresh,   // entity: the link whose receiving side repeats a PAUSE
  kTimeout,   // entity: queue pair
  kArrival,   // entity: link; payload: packet
  kPost,      // entity: the application's
};

// One thing to happen. Ordered by (time, kind, entity): independent of how work is divided.
struct PacketEvent {
  std::int64_t time = 0;
  std::uint64_t key = 0;  // kind (4 bits), entity (28 bits), payload (32 bits)

  static PacketEvent Make(std::int64_t time, PacketEventKind kind, std::uint32_t entity,
                          std::uint32_t payload = 0) {
    return {time, (static_cast<std::uint64_t>(kind) << 60) |
                      (static_cast<std::uint64_t>(entity) << 32) | payload};
  }
  [[nodiscard]] PacketEventKind kind() const { return static_cast<PacketEventKind>(key >> 60); }
  [[nodiscard]] std::uint32_t entity() const { return (key >> 32) & 0xfffffff; }
  [[nodiscard]] std::uint32_t payload() const { return static_cast<std::uint32_t>(key); }
  bool operator<(const PacketEvent& other) const {
    return time != other.time ? time < other.time : key < other.key;
  }
};

// A calendar queue (Brown, CACM 31(10), 1988): an array of buckets, each `width` long, and a heap
// for what lies beyond them. A bucket is sorted when its turn comes, so that an event costs one
// append and a share of a short sort, however many are pending. Where senders started together,
// many events have the same time, and are sorted by marking their links in a bitmap.
class CalendarQueue {
 public:
  // `width` is rounded to a power of two picoseconds, `horizon` is what the buckets cover.
  CalendarQueue(Time width, Time horizon);

  // REQUIRES: event.time is not before the last popped event.
  [[gnu::always_inline]] void Push(const PacketEvent& event) {
    const std::int64_t bucket = event.time >> shift_;
    if (bucket > current_ && bucket - current_ < bucket_count_) [[likely]] {
      Append(static_cast<std::size_t>(bucket & mask_), event);
      return;
    }
    PushElsewhere(event, bucket);
  }

  // The next event, without taking it; null when there is none.
  [[nodiscard]] const PacketEvent* Top() {
    if (next_ == end_) Turn();
    return next_ == end_ ? nullptr : &today_[next_];
  }
  // Takes it. REQUIRES: Top() has been called since the last Pop() or Push(), and was not null.
  void Pop() { ++next_; }
  // What a handler may want fetched into cache: where the top is in its bucket, the bucket from
  // there on, in order, and some events of the bucket to come, in none.
  static constexpr std::size_t kSomeComing = 64;
  [[nodiscard]] std::size_t place() const { return next_; }
  [[nodiscard]] const PacketEvent* end() const { return today_.data() + end_; }
  [[nodiscard]] std::span<const PacketEvent> rest() const {
    return std::span(today_).subspan(next_, end_ - next_);
  }
  template <typename Function>
  [[gnu::always_inline]] void ForSomeComing(Function function) const {
    const std::int64_t next = NextOccupied();
    if (next < 0) return;
    const std::uint32_t last = buckets_[static_cast<std::size_t>(next & mask_)] - 1;
    std::uint32_t chunk = last / kChunk;
    std::uint32_t here = last % kChunk + 1;
    for (std::uint32_t i = 0; i < kSomeComing / kChunk && chunk != kNone; ++i) {
      for (std::uint32_t j = 0; j < here; ++j) function(events_[chunk * kChunk + j]);
      chunk = previous_[chunk];
      here = kChunk;
    }
  }

 private:
  // Events live in chunks that are recycled last in first out: what is pending stays in cache,
  // however long the ring of buckets.
  static constexpr std::uint32_t kChunk = 8;
  static constexpr std::uint32_t kNone = 0;  // no chunk, which is never used

  [[gnu::always_inline]] void Append(std::size_t slot, const PacketEvent& event) {
    std::uint32_t& end = buckets_[slot];
    if (end % kChunk == 0) [[unlikely]]
      BeginChunk(slot);
    events_[end++] = event;
  }
  void BeginChunk(std::size_t slot);
  void FreeChunk(std::uint32_t chunk) { previous_[chunk] = std::exchange(free_, chunk); }

  [[gnu::noinline]] void PushElsewhere(const PacketEvent& event, std::int64_t bucket);
  // Makes the next bucket that holds anything today's, if there is any. REQUIRES: nothing is left
  // of today's.
  void Turn();
  void Gather(std::uint32_t end);
  template <std::size_t kPlaces>
  void SortChunk(const PacketEvent* events, std::size_t count, PacketEvent* sorted) const;
  [[nodiscard]] std::int64_t NextOccupied() const;
  void SortToday();
  void Sort(std::span<PacketEvent> events);
  // Sorts events of one time and kind; false where they are not.
  [[nodiscard]] bool SortByEntity(std::span<PacketEvent> events);

  int shift_;
  std::int64_t bucket_count_;
  std::int64_t mask_;
  std::uint64_t bucket_bits_;            // of a time within its bucket, 32 places up
  std::int64_t current_ = -1;            // number of today's bucket
  std::vector<std::uint32_t> buckets_;   // where each goes on in events_; 0: it is empty
  std::vector<PacketEvent> events_;      // by chunk
  std::vector<std::uint32_t> previous_;  // by chunk: the one before it in its bucket, or free
  std::uint32_t free_ = kNone;           // the first of the free chunks
  std::vector<std::uint64_t> occupied_;  // one bit a bucket
  std::vector<PacketEvent> today_;       // sorted, up to end_
  std::size_t next_ = 0;                 // in today_
  std::size_t end_ = 0;
  std::vector<PacketEvent> far_;  // a min-heap
  std::vector<PacketEvent> scratch_;
  std::vector<std::uint64_t> entities_;  // SortByEntity: one bit each …
  std::vector<std::uint32_t> payloads_;  // … and what comes with it
};

// The same contract on one heap: the reference for tests.
class HeapQueue {
 public:
  HeapQueue(Time /*width*/, Time /*horizon*/) {}
  void Push(const PacketEvent& event);
  [[nodiscard]] const PacketEvent* Top() const { return heap_.empty() ? nullptr : heap_.data(); }
  void Pop();

 private:
  std::vector<PacketEvent> heap_;
};

}  // namespace trunkline
