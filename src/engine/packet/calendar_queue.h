#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trunkline/base/int128.h"
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
  // As one number, because a branch on whether the times differ would often be mispredicted.
  // REQUIRES: no time is negative.
  bool operator<(const PacketEvent& other) const { return order() < other.order(); }
  // All bits where this is before `other`, else none, for arithmetic in place of a branch. The
  // compiler is not to see that these are two cases: clang would branch on which.
  [[nodiscard]] std::uint64_t MaskIfBefore(const PacketEvent& other) const {
    std::uint64_t mask = *this < other ? ~std::uint64_t{0} : 0;
    asm("" : "+r"(mask));
    return mask;
  }

 private:
  [[nodiscard]] Uint128 order() const {
    return Uint128{static_cast<std::uint64_t>(time)} << 64 | key;
  }
};

// A calendar queue (Brown, CACM 31(10), 1988): an array of buckets, each `width` long, and a heap
// for what lies beyond them. A bucket is sorted when its turn comes, so that an event costs one
// append and a share of a short sort, however many are pending. Where senders started together,
// many events have the same time, and are sorted by marking their links in a bitmap.
//
// With zones, every width of time is a window that has a bucket for each zone, and a window's
// buckets have their turns one after the other. So what a zone's events touch is fetched into cache
// once a window instead of once an event. REQUIRES: an event of one zone pushes none for another
// before the window's end.
class CalendarQueue {
 public:
  static constexpr std::uint32_t kEverywhere = UINT32_MAX;

  // `width` is rounded down a little, `horizon` is what the buckets cover at least.
  CalendarQueue(Time width, Time horizon, std::uint32_t zones = 1);

  // REQUIRES: event.time is not before the last popped event of its zone.
  [[gnu::always_inline]] void Push(PacketEvent event, std::uint32_t zone = 0) {
    const std::int64_t bucket = FirstOf(WindowOf(event.time)) + zone;
    if (bucket > current_ && bucket - current_ < reach_) [[likely]] {
      Append(static_cast<std::size_t>(bucket & mask_), event);
      return;
    }
    PushElsewhere(event, bucket);
  }
  // Of an event that may touch any zone.
  void PushEverywhere(const PacketEvent& event);

  // Whether nothing is left of today's bucket: time to Turn.
  [[nodiscard]] bool empty() const { return next_ == end_; }
  // Makes the next bucket that holds anything before `limit` today's; false when there is none. Of
  // zones, today's bucket may be empty: one that was marked, and holds nothing else. REQUIRES:
  // empty().
  bool Turn(std::int64_t limit);
  // With zones, today's bucket is in no order until it is sorted. REQUIRES: nothing has been popped
  // since Turn, or pushed into today's.
  void Sort();
  // Today's bucket as it is, and having no more than its first events left.
  [[nodiscard]] std::span<PacketEvent> today() { return std::span(today_).first(end_); }
  void Leave(std::size_t count) { end_ = count; }
  // Parts of today's window.
  static constexpr std::uint32_t kWindowParts = 8;
  struct Parts {
    std::int64_t begin;
    int shift;
    [[nodiscard]] std::uint32_t Of(std::int64_t time) const {
      return static_cast<std::uint32_t>((time - begin) >> shift);
    }
  };
  [[nodiscard]] Parts parts() const { return {begin_, shift_ + 1}; }  // a window has 8 to 15 units
  // The next event of today's bucket, which without zones may be at `limit` or later. REQUIRES: not
  // empty(); sorted, with zones.
  [[nodiscard]] const PacketEvent& Top() const { return today_[next_]; }
  void Pop() { ++next_; }

  // The zone of today's bucket, and the time that its events are before.
  [[nodiscard]] std::uint32_t zone() const { return zone_; }
  [[nodiscard]] std::int64_t until() const { return until_; }
  // Has a zone have its turn in the window of `time`, or sooner if that is far off, whatever
  // happens there. REQUIRES: what that window has before `time` is over for the zone.
  void Mark(std::uint32_t zone, std::int64_t time);
  // The time of the next event, or of the window before which a marked zone has its turn; INT64_MAX
  // when there is nothing.
  [[nodiscard]] std::int64_t next_time() const;
  // No later than that, and cheap to tell where there are zones: the beginning of a window. The end
  // of that window.
  [[nodiscard]] std::int64_t EarliestWindow() const;
  [[nodiscard]] std::int64_t EndOfWindow(std::int64_t time) const {
    return (WindowOf(time) + 1) * width_;
  }

  // What a handler may want fetched into cache: where the top is in its bucket, the bucket from
  // there on, in order, and some events of a bucket to come, in none.
  static constexpr std::size_t kSomeComing = 64;
  [[nodiscard]] std::size_t place() const { return next_; }
  [[nodiscard]] const PacketEvent* end() const { return today_.data() + end_; }
  [[nodiscard]] std::span<const PacketEvent> rest() const {
    return std::span(today_).subspan(next_, end_ - next_);
  }
  // The bucket after today's, and after another; -1: nothing is pending.
  [[nodiscard]] std::int64_t coming() const { return zoned() ? coming_ : NextOccupied(current_); }
  [[nodiscard]] std::int64_t After(std::int64_t bucket) const {
    return bucket < 0 ? bucket : NextOccupied(bucket);
  }
  template <typename Function>
  [[gnu::always_inline]] void ForSomeOf(std::int64_t bucket, Function function) const {
    if (bucket >= 0) ForEachOf(static_cast<std::size_t>(bucket & mask_), kSomeComing, function);
  }

 private:
  // Events live in chunks that are recycled last in first out: what is pending stays in cache,
  // however long the ring of buckets.
  static constexpr std::uint32_t kChunk = 16;
  static constexpr std::uint32_t kNone = 0;  // no chunk, which is never used

  // Windows are a whole number of units of 2^shift_ picoseconds, of which there are 8 to 15.
  [[nodiscard]] std::int64_t WindowOf(std::int64_t time) const {
    const auto units = static_cast<std::uint64_t>(time >> shift_);
    return static_cast<std::int64_t>((Uint128{units} * inverse_) >> 64);
  }
  // A window's first bucket, and the window of a bucket.
  [[nodiscard]] std::int64_t FirstOf(std::int64_t window) const { return window << stride_bits_; }
  [[nodiscard]] std::int64_t WindowWith(std::int64_t bucket) const {
    return bucket >> stride_bits_;
  }
  [[nodiscard]] bool zoned() const { return stride_bits_ != 0; }
  template <typename Function>
  [[gnu::always_inline]] void ForEachOf(std::size_t slot, std::size_t most,
                                        Function function) const {
    const std::uint32_t end = buckets_[slot];
    if (end == 0) return;
    std::uint32_t chunk = (end - 1) / kChunk;
    std::uint32_t here = (end - 1) % kChunk + 1;
    for (std::size_t i = 0; i < most && chunk != kNone; i += kChunk) {
      for (std::uint32_t j = 0; j < here; ++j) function(events_[chunk * kChunk + j]);
      chunk = previous_[chunk];
      here = kChunk;
    }
  }
  [[gnu::always_inline]] void Append(std::size_t slot, PacketEvent event) {
    std::uint32_t& end = buckets_[slot];
    if (end % kChunk == 0) [[unlikely]]
      BeginChunk(slot);
    events_[end++] = event;
  }
  void BeginChunk(std::size_t slot);
  void FreeChunk(std::uint32_t chunk) { previous_[chunk] = std::exchange(free_, chunk); }
  void Occupy(std::size_t slot) { occupied_[slot >> 6] |= std::uint64_t{1} << (slot & 63); }

  [[gnu::noinline]] void PushElsewhere(PacketEvent event, std::int64_t bucket);
  void Insert(const PacketEvent& event);
  void TurnTo(std::int64_t bucket);
  bool TurnOfZones(std::int64_t limit);
  bool TakeEverywhere(std::int64_t limit);
  void FetchFar(std::int64_t window);
  void PutBack(std::int64_t from);
  void Gather(std::uint32_t end);
  template <std::size_t kPlaces>
  void SortChunk(const PacketEvent* events, std::size_t count, PacketEvent* sorted) const;
  [[nodiscard]] std::int64_t NextOccupied(std::int64_t after) const;
  void SortToday();
  template <int kPartBits>
  void SortFew();
  void SortMany();
  void SortSome(std::span<PacketEvent> events);
  // Sorts events of one time and kind; false where they are not.
  [[nodiscard]] bool SortByEntity(std::span<PacketEvent> events);

  struct Far {
    PacketEvent event;
    std::uint32_t zone = 0;
    bool operator<(const Far& other) const { return event < other.event; }
  };

  int shift_;
  std::uint64_t inverse_;  // of the units of a window, in 1/2^64, rounded up
  std::int64_t width_;     // of a window
  int stride_bits_;        // a window has 2^stride_bits_ buckets
  std::int64_t bucket_count_;
  std::int64_t mask_;
  std::int64_t reach_;                   // how far ahead of today's bucket one may be
  std::int64_t current_ = -1;            // number of today's bucket
  std::int64_t coming_ = -1;             // number of the next, with zones
  std::int64_t begin_ = 0;               // of today's window
  std::int64_t until_ = 0;               // events of today's window before are being handled …
  std::int64_t window_ = -1;             // … in this window; -1: between two
  std::int64_t done_ = 0;                // all of zones before has been handled
  std::uint32_t zone_ = kEverywhere;     // today's
  std::vector<std::uint32_t> buckets_;   // where each goes on in events_; 0: it is empty
  std::vector<PacketEvent> events_;      // by chunk
  std::vector<std::uint32_t> previous_;  // by chunk: the one before it in its bucket, or free
  std::uint32_t free_ = kNone;           // the first of the free chunks
  std::vector<std::uint64_t> occupied_;  // one bit a bucket
  std::vector<PacketEvent> today_;       // sorted, up to end_
  std::size_t next_ = 0;                 // in today_
  std::size_t end_ = 0;
  std::vector<Far> far_;                 // a min-heap
  std::vector<PacketEvent> everywhere_;  // a min-heap
  std::vector<PacketEvent> scratch_;
  std::vector<std::uint64_t> entities_;  // SortByEntity: one bit each …
  std::vector<std::uint32_t> payloads_;  // … and what comes with it
};

// The same contract on one heap, without zones: the reference for tests.
class HeapQueue {
 public:
  static constexpr std::uint32_t kEverywhere = CalendarQueue::kEverywhere;

  HeapQueue(Time /*width*/, Time /*horizon*/, std::uint32_t /*zones*/ = 1) {}
  void Push(const PacketEvent& event, std::uint32_t zone = 0);
  void PushEverywhere(const PacketEvent& event) { Push(event); }
  [[nodiscard]] bool empty() const { return true; }  // every event is a bucket of its own
  bool Turn(std::int64_t limit) const { return !heap_.empty() && heap_.front().time < limit; }
  [[nodiscard]] const PacketEvent& Top() const { return heap_.front(); }
  void Pop();
  [[nodiscard]] std::int64_t next_time() const {
    return heap_.empty() ? INT64_MAX : heap_.front().time;
  }

 private:
  std::vector<PacketEvent> heap_;
};

}  // namespace trunkline
