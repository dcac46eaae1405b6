#include "engine/packet/calendar_queue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

constexpr std::int64_t kMinBuckets = 1024;
constexpr std::int64_t kMaxBuckets = 65'536;
constexpr std::int64_t kMinWidth = 1 << 10;  // or WindowOf would not be exact up to the horizon
constexpr std::int64_t kMaxWidth = 1 << 30;  // or times within a window would not fit 32 bits

// The other way round, for heaps whose first is the least.
struct Later {
  template <typename Event>
  bool operator()(const Event& a, const Event& b) const {
    return b < a;
  }
};

// Calls function(i) for every i below kPlaces, each a constant: unrolled, whatever the compiler
// thinks of it.
template <std::size_t kPlaces, typename Function>
[[gnu::always_inline]] inline void ForEachOfPlaces(Function function) {
  [&]<std::size_t... kPlace>(std::index_sequence<kPlace...>) {
    (function(std::integral_constant<std::size_t, kPlace>()), ...);
  }(std::make_index_sequence<kPlaces>());
}

constexpr std::size_t kShort = 16;

void SortShort(std::span<PacketEvent> events) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    const PacketEvent event = events[i];
    std::size_t j = i;
    for (; j > 0 && event < events[j - 1]; --j) events[j] = events[j - 1];
    events[j] = event;
  }
}

}  // namespace

CalendarQueue::CalendarQueue(Time width, Time horizon, std::uint32_t zones)
    : stride_bits_(zones == 1 ? 0 : std::max(6, static_cast<int>(std::bit_width(zones - 1)))) {
  const std::int64_t wide = std::clamp<std::int64_t>(width.ps(), kMinWidth, kMaxWidth);
  shift_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(wide))) - 4;
  const std::int64_t units = wide >> shift_;
  inverse_ = UINT64_MAX / static_cast<std::uint64_t>(units) + 1;
  width_ = units << shift_;
  const std::int64_t windows = std::max<std::int64_t>(1, horizon.ps() / width_ + 2);
  const auto wanted = static_cast<std::uint64_t>(FirstOf(std::min(windows, kMaxBuckets)));
  bucket_count_ = std::max(static_cast<std::int64_t>(std::bit_ceil(wanted)), kMinBuckets);
  mask_ = bucket_count_ - 1;
  reach_ = bucket_count_ - FirstOf(1);  // today's may become the first of its window once more
  buckets_.resize(static_cast<std::size_t>(bucket_count_));
  occupied_.resize(static_cast<std::size_t>(bucket_count_) / 64);
  today_.resize(kChunk);
  previous_.resize(1);
  events_.resize(kChunk);
}

void CalendarQueue::PushElsewhere(PacketEvent event, std::int64_t bucket) {
  if (bucket > current_) {
    far_.push_back({event, static_cast<std::uint32_t>(bucket & (FirstOf(1) - 1))});
    std::ranges::push_heap(far_, Later());
    return;
  }
  TL_CHECK(bucket == current_ || !zoned(), "an event of a window that is over", event.time);
  if (!zoned() || event.time < until_) {
    Insert(event);
  } else {
    Append(static_cast<std::size_t>(bucket & mask_), event);
  }
}

// Into its place among what is left of today, which no branch depends on: half of those would be
// mispredicted.
void CalendarQueue::Insert(const PacketEvent& event) {
  if (end_ == today_.size()) today_.emplace_back();
  std::size_t place = next_;
  for (std::size_t left = end_ - next_; left != 0;) {
    const std::size_t half = (left + 1) / 2;
    place += half & ~event.MaskIfBefore(today_[place + half - 1]);
    left -= half;
  }
  for (std::size_t i = end_++; i > place; --i) today_[i] = today_[i - 1];
  today_[place] = event;
}

void CalendarQueue::PushEverywhere(const PacketEvent& event) {
  if (!zoned()) {
    Push(event);
    return;
  }
  everywhere_.push_back(event);
  std::ranges::push_heap(everywhere_, Later());
}

std::int64_t CalendarQueue::NextOccupied(std::int64_t after) const {
  // Buckets after today's, round the ring.
  const std::int64_t words = bucket_count_ / 64;
  const std::int64_t first = after + 1;
  std::int64_t base = first & ~std::int64_t{63};
  std::uint64_t bits = occupied_[static_cast<std::size_t>((base & mask_) >> 6)] &
                       (~std::uint64_t{0} << (first & 63));
  for (std::int64_t i = 0; bits == 0; ++i) {
    if (i == words) return -1;
    base += 64;
    bits = occupied_[static_cast<std::size_t>((base & mask_) >> 6)];
  }
  return base + std::countr_zero(bits);
}

// A bucket is empty, or its last chunk full.
void CalendarQueue::BeginChunk(std::size_t slot) {
  if (free_ == kNone) {
    free_ = static_cast<std::uint32_t>(previous_.size());
    previous_.push_back(kNone);
    events_.resize(events_.size() + kChunk);
  }
  std::uint32_t& end = buckets_[slot];
  if (end == 0) Occupy(slot);
  const std::uint32_t full = end == 0 ? kNone : end / kChunk - 1;
  end = free_ * kChunk;
  free_ = std::exchange(previous_[free_], full);
}

// Sorts the `count` events of a chunk into `sorted`, where there is room for a whole one: each goes
// where the number of those before it says. No branch depends on the events, because half of those
// would be mispredicted.
template <std::size_t kPlaces>
void CalendarQueue::SortChunk(const PacketEvent* events, std::size_t count,
                              PacketEvent* sorted) const {
  std::array<std::uint64_t, kPlaces> keys{};  // time within the bucket, kind, entity
  std::array<std::size_t, kPlaces> before{};
  ForEachOfPlaces<kPlaces>([&](auto i) {
    const auto time = static_cast<std::uint64_t>(events[i].time - begin_) << 32;
    const std::uint64_t key = time | events[i].key >> 32;
    keys[i] = i < count ? key : UINT64_MAX;
    before[i] = i;
  });
  ForEachOfPlaces<kPlaces>([&](auto j) {
    ForEachOfPlaces<j>([&](auto i) {
      const std::size_t swapped = keys[j] < keys[i] ? 1 : 0;
      before[i] += swapped;
      before[j] -= swapped;
    });
  });
  ForEachOfPlaces<kPlaces>([&](auto i) { sorted[before[i]] = events[i]; });
}

// What a bucket has up to `end` becomes today_, in order.
void CalendarQueue::Gather(std::uint32_t end) {
  std::uint32_t chunk = (end - 1) / kChunk;
  std::uint32_t here = (end - 1) % kChunk + 1;
  constexpr std::uint32_t kFew = 8;
  if (!zoned() && previous_[chunk] == kNone && here <= kFew) {
    const PacketEvent* const events = &events_[chunk * kChunk];
    if (here == 1) {
      today_[0] = events[0];
    } else if (here <= kFew / 2) {
      SortChunk<kFew / 2>(events, here, today_.data());
    } else {
      SortChunk<kFew>(events, here, today_.data());
    }
    FreeChunk(chunk);
    end_ = here;
    bool twins = false;
    for (std::size_t i = 1; i < end_; ++i) {
      twins = twins || (today_[i - 1].time == today_[i].time &&
                        today_[i - 1].key >> 32 == today_[i].key >> 32);
    }
    if (twins) SortShort(std::span(today_).first(end_));
    return;
  }
  while (chunk != kNone) {
    if (end_ + kChunk > today_.size()) today_.resize(2 * today_.size());
    // All of it: cheaper than to count.
    std::memcpy(&today_[end_], &events_[chunk * kChunk], kChunk * sizeof(PacketEvent));
    end_ += here;
    const std::uint32_t previous = previous_[chunk];
    FreeChunk(chunk);
    chunk = previous;
    here = kChunk;
  }
  if (!zoned()) SortToday();
}

void CalendarQueue::Sort() {
  if (end_ > 1) SortToday();
}

bool CalendarQueue::Turn(std::int64_t limit) {
  next_ = 0;
  end_ = 0;
  if (zoned()) return TurnOfZones(limit);
  const std::int64_t near = NextOccupied(current_);
  const std::int64_t far = far_.empty() ? INT64_MAX : WindowOf(far_.front().event.time);
  if (near >= 0 && near <= far) {
    TurnTo(near);
  } else if (far != INT64_MAX) {
    current_ = far;
    begin_ = far * width_;
  }
  while (!far_.empty() && WindowOf(far_.front().event.time) == current_) {
    Insert(far_.front().event);
    std::ranges::pop_heap(far_, Later());
    far_.pop_back();
  }
  return end_ != 0;
}

// Makes a bucket today's.
void CalendarQueue::TurnTo(std::int64_t bucket) {
  current_ = bucket;
  begin_ = WindowWith(bucket) * width_;
  const auto slot = static_cast<std::size_t>(bucket & mask_);
  occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  if (const std::uint32_t end = std::exchange(buckets_[slot], 0); end != 0) Gather(end);
}

// A window is gone through zone by zone, up to its end or to a time before it; then it is gone
// through once more from there on.
bool CalendarQueue::TurnOfZones(std::int64_t limit) {
  while (true) {
    if (window_ >= 0 && coming_ >= 0 && WindowWith(coming_) == window_) {
      const std::int64_t near = coming_;
      coming_ = NextOccupied(near);
      TurnTo(near);
      zone_ = static_cast<std::uint32_t>(near & (FirstOf(1) - 1));
      if (until_ < begin_ + width_) PutBack(until_);
      return true;
    }
    if (window_ >= 0) {
      done_ = until_;
      current_ = FirstOf(WindowOf(until_)) - 1;
      window_ = -1;
      continue;
    }
    zone_ = kEverywhere;
    coming_ = NextOccupied(current_);
    std::int64_t stop = limit;
    if (!everywhere_.empty()) {
      // Posts come after all else of their time, faults before.
      const PacketEvent& first = everywhere_.front();
      stop = std::min(stop, first.time + (first.kind() == PacketEventKind::kPost ? 1 : 0));
    }
    std::int64_t next = coming_ < 0 ? INT64_MAX : WindowWith(coming_);
    if (!far_.empty()) next = std::min(next, WindowOf(far_.front().event.time));
    if (next == INT64_MAX || next * width_ >= stop || done_ >= stop) {
      if (stop != INT64_MAX) {
        done_ = std::max(done_, stop);
        const std::int64_t before = std::max<std::int64_t>(0, done_ - 1);
        current_ = std::max(current_, FirstOf(WindowOf(before)) - 1);
      }
      return TakeEverywhere(limit);
    }
    current_ = FirstOf(next) - 1;
    FetchFar(next);
    coming_ = NextOccupied(current_);
    window_ = next;
    until_ = std::min(stop, (next + 1) * width_);
  }
}

// Takes the next of those that may touch any zone. REQUIRES: all zones have come to it.
bool CalendarQueue::TakeEverywhere(std::int64_t limit) {
  if (everywhere_.empty() || everywhere_.front().time >= limit) return false;
  today_[end_++] = everywhere_.front();
  done_ = std::min(done_, today_[0].time);  // zones may have to do with it at once
  std::ranges::pop_heap(everywhere_, Later());
  everywhere_.pop_back();
  return true;
}

// Moves what is far no longer to its buckets.
void CalendarQueue::FetchFar(std::int64_t window) {
  while (!far_.empty() && WindowOf(far_.front().event.time) <= window) {
    const std::int64_t bucket = FirstOf(window) + far_.front().zone;
    Append(static_cast<std::size_t>(bucket & mask_), far_.front().event);
    std::ranges::pop_heap(far_, Later());
    far_.pop_back();
  }
}

// Puts today's events from a time on back into their bucket.
void CalendarQueue::PutBack(std::int64_t from) {
  const std::size_t all = std::exchange(end_, 0);
  for (std::size_t i = 0; i < all; ++i) {
    const PacketEvent event = today_[i];
    if (event.time < from) {
      today_[end_++] = event;
    } else {
      Append(static_cast<std::size_t>(current_ & mask_), event);
    }
  }
}

void CalendarQueue::Mark(std::uint32_t zone, std::int64_t time) {
  const std::int64_t last = WindowWith(current_ + reach_) - 1;
  const std::int64_t window = std::min(WindowOf(time), last);
  Occupy(static_cast<std::size_t>((FirstOf(window) + zone) & mask_));
}

std::int64_t CalendarQueue::EarliestWindow() const {
  std::int64_t next = INT64_MAX;
  if (const std::int64_t near = NextOccupied(current_); near >= 0) {
    next = std::max(done_, WindowWith(near) * width_);
  }
  if (!far_.empty()) next = std::min(next, far_.front().event.time);
  if (!everywhere_.empty()) next = std::min(next, everywhere_.front().time);
  return next;
}

std::int64_t CalendarQueue::next_time() const {
  if (!empty()) return today_[next_].time;
  std::int64_t next = INT64_MAX;
  const auto note = [&](const PacketEvent& event) { next = std::min(next, event.time); };
  const std::int64_t near = NextOccupied(current_);
  const std::int64_t window = WindowWith(near);
  for (std::int64_t i = near; i >= 0 && i < FirstOf(window + 1); ++i) {
    const auto slot = static_cast<std::size_t>(i & mask_);
    if (buckets_[slot] != 0) {
      ForEachOf(slot, SIZE_MAX, note);
    } else if ((occupied_[slot >> 6] >> (slot & 63) & 1) != 0) {
      next = std::min(next, std::max(done_, window * width_));
    }
  }
  if (!far_.empty()) note(far_.front().event);
  if (!everywhere_.empty()) note(everywhere_.front());
  return next;
}

void CalendarQueue::SortToday() {
  if (end_ <= kShort / 2) {
    SortShort(std::span(today_).first(end_));
  } else if (end_ <= 2 * kShort) {
    SortFew<6>();
  } else if (end_ <= UINT8_MAX) {
    SortFew<8>();
  } else {
    SortMany();
  }
}

// By fractions of the bucket's width first: what is left is short, or of one time. Without branches
// that depend on the events.
template <int kPartBits>
void CalendarQueue::SortFew() {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  const int shift = shift_ + 4 - kPartBits;  // of 16 units at most
  std::array<std::uint8_t, kParts> place{};
  for (std::size_t i = 0; i < end_; ++i) {
    ++place[static_cast<std::size_t>((today_[i].time - begin_) >> shift)];
  }
  // Each part's place is the number of events before it; eight parts are added up by one product.
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kMany = kEach * (256 - kShort);  // the bits of kShort and more
  std::uint64_t sum = 0;
  std::uint64_t many = 0;
  for (std::size_t i = 0; i < kParts; i += 8) {
    std::uint64_t counts = 0;
    std::memcpy(&counts, &place[i], sizeof counts);
    const std::uint64_t sums = counts * kEach;
    const std::uint64_t places = (sums << 8) + sum * kEach;
    std::memcpy(&place[i], &places, sizeof places);
    sum += sums >> 56;
    many |= counts & kMany;
  }
  if (many != 0) {
    SortMany();  // many of one time
    return;
  }
  if (scratch_.size() < today_.size()) scratch_.resize(today_.size());
  for (std::size_t i = 0; i < end_; ++i) {
    const auto part = static_cast<std::size_t>((today_[i].time - begin_) >> shift);
    scratch_[place[part]++] = today_[i];
  }
  today_.swap(scratch_);
  SortShort(std::span(today_).first(end_));  // hardly anything is out of its place
}

// The same for any number.
void CalendarQueue::SortMany() {
  constexpr std::size_t kParts = 64;
  const int shift = shift_ - 2;  // of 16 units at most
  const auto part = [&](const PacketEvent& event) {
    return static_cast<std::size_t>((event.time - begin_) >> shift);
  };
  std::array<std::uint32_t, kParts + 1> place{};
  for (std::size_t i = 0; i < end_; ++i) ++place[part(today_[i]) + 1];
  for (std::size_t i = 1; i < kParts; ++i) place[i] += place[i - 1];
  if (scratch_.size() < today_.size()) scratch_.resize(today_.size());
  for (std::size_t i = 0; i < end_; ++i) scratch_[place[part(today_[i])]++] = today_[i];
  today_.swap(scratch_);
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    SortSome(std::span(today_).subspan(begin, place[i] - begin));
    begin = place[i];
  }
}

void CalendarQueue::SortSome(std::span<PacketEvent> events) {
  if (events.size() <= kShort) {
    SortShort(events);
  } else if (!SortByEntity(events)) {
    std::ranges::sort(events, std::less<>());
  }
}

bool CalendarQueue::SortByEntity(std::span<PacketEvent> events) {
  const PacketEvent first = events.front();
  std::uint64_t different = 0;
  std::uint32_t most = 0;
  for (const PacketEvent& event : events) {
    different |= static_cast<std::uint64_t>(event.time ^ first.time);
    different |= (event.key ^ first.key) >> 60;
    most = std::max(most, event.entity());
  }
  if (different != 0) return false;
  if (most >= payloads_.size()) {
    entities_.resize(most / 64 + 1);
    payloads_.resize(entities_.size() * 64);
  }
  bool twice = false;
  for (const PacketEvent& event : events) {
    const std::uint32_t entity = event.entity();
    const std::uint64_t bit = std::uint64_t{1} << (entity % 64);
    twice = twice || (entities_[entity / 64] & bit) != 0;
    entities_[entity / 64] |= bit;
    payloads_[entity] = event.payload();
  }
  std::size_t place = 0;
  for (std::uint32_t word = 0; word <= most / 64; ++word) {
    std::uint64_t bits = std::exchange(entities_[word], 0);
    for (; bits != 0 && !twice; bits &= bits - 1) {
      const std::uint32_t entity = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      events[place++] = PacketEvent::Make(first.time, first.kind(), entity, payloads_[entity]);
    }
  }
  return !twice;
}

void HeapQueue::Push(const PacketEvent& event, std::uint32_t /*zone*/) {
  heap_.push_back(event);
  std::ranges::push_heap(heap_, Later());
}

void HeapQueue::Pop() {
  std::ranges::pop_heap(heap_, Later());
  heap_.pop_back();
}

}  // namespace trunkline
