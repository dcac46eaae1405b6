#include "engine/packet/calendar_queue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

namespace trunkline {
namespace {

constexpr std::int64_t kMinBuckets = 1024;
constexpr std::int64_t kMaxBuckets = 65'536;

struct Later {
  bool operator()(const PacketEvent& a, const PacketEvent& b) const { return b < a; }
};

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

CalendarQueue::CalendarQueue(Time width, Time horizon)
    : shift_(std::countr_zero(
          std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, width.ps()))))) {
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(1, horizon.ps() >> shift_));
  bucket_count_ =
      std::clamp(static_cast<std::int64_t>(std::bit_ceil(wanted)), kMinBuckets, kMaxBuckets);
  mask_ = bucket_count_ - 1;
  buckets_.resize(static_cast<std::size_t>(bucket_count_));
  occupied_.resize(static_cast<std::size_t>(bucket_count_) / 64);
  bucket_bits_ = ((std::uint64_t{1} << shift_) - 1) << 32;
  today_.resize(kChunk);
  previous_.resize(1);
  events_.resize(kChunk);
}

void CalendarQueue::PushElsewhere(const PacketEvent& event, std::int64_t bucket) {
  if (bucket <= current_) {
    // Of today: into its place among what is left.
    if (end_ == today_.size()) today_.emplace_back();
    const auto begin = today_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto end = today_.begin() + static_cast<std::ptrdiff_t>(end_++);
    const auto place = std::upper_bound(begin, end, event, std::less<>());
    std::move_backward(place, end, end + 1);
    *place = event;
    return;
  }
  far_.push_back(event);
  std::ranges::push_heap(far_, Later());
}

std::int64_t CalendarQueue::NextOccupied() const {
  // Buckets after today's, round the ring.
  const std::int64_t words = bucket_count_ / 64;
  const std::int64_t first = current_ + 1;
  std::int64_t word = (first & mask_) >> 6;
  std::uint64_t bits =
      occupied_[static_cast<std::size_t>(word)] & (~std::uint64_t{0} << (first & 63));
  std::int64_t base = first - (first & 63);
  for (std::int64_t i = 0; i <= words; ++i) {
    if (bits != 0) return base + std::countr_zero(bits);
    word = (word + 1) % words;
    base += 64;
    bits = occupied_[static_cast<std::size_t>(word)];
  }
  return -1;
}

// A bucket is empty, or its last chunk full.
void CalendarQueue::BeginChunk(std::size_t slot) {
  if (free_ == kNone) {
    free_ = static_cast<std::uint32_t>(previous_.size());
    previous_.push_back(kNone);
    events_.resize(events_.size() + kChunk);
  }
  std::uint32_t& end = buckets_[slot];
  if (end == 0) occupied_[slot >> 6] |= std::uint64_t{1} << (slot & 63);
  const std::uint32_t full = end == 0 ? kNone : end / kChunk - 1;
  end = free_ * kChunk;
  free_ = std::exchange(previous_[free_], full);
}

// Sorts the `count` events of a chunk into `sorted`, where there is room for a whole one: each goes
// where the number of those before it says. Hardly any branch depends on the events, because half
// of those would be mispredicted.
template <std::size_t kPlaces>
void CalendarQueue::SortChunk(const PacketEvent* events, std::size_t count,
                              PacketEvent* sorted) const {
  std::array<std::uint64_t, kPlaces> keys{};  // time within the bucket, kind, entity
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const auto time = static_cast<std::uint64_t>(events[i].time) << 32;
    const std::uint64_t key = (time & bucket_bits_) | events[i].key >> 32;
    keys[i] = i < count ? key : UINT64_MAX;
  }
  std::array<std::size_t, kPlaces> before{};
  for (std::size_t i = 0; i < kPlaces; ++i) {
    for (std::size_t j = i + 1; j < kPlaces; ++j) {
      const bool swapped = keys[j] < keys[i];
      before[i] += swapped ? 1 : 0;
      before[j] += swapped ? 0 : 1;
    }
  }
  for (std::size_t i = 0; i < kPlaces; ++i) sorted[before[i]] = events[i];
}

// What a bucket has up to `end` becomes today_, in order.
void CalendarQueue::Gather(std::uint32_t end) {
  std::uint32_t chunk = (end - 1) / kChunk;
  std::uint32_t here = (end - 1) % kChunk + 1;
  if (previous_[chunk] == kNone) {
    const PacketEvent* const events = &events_[chunk * kChunk];
    if (here == 1) {
      today_[0] = events[0];
    } else if (here <= kChunk / 2) {
      SortChunk<kChunk / 2>(events, here, today_.data());
    } else {
      SortChunk<kChunk>(events, here, today_.data());
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
    std::copy_n(&events_[chunk * kChunk], kChunk, &today_[end_]);  // all: cheaper than to count
    end_ += here;
    const std::uint32_t previous = previous_[chunk];
    FreeChunk(chunk);
    chunk = previous;
    here = kChunk;
  }
  SortToday();
}

void CalendarQueue::Turn() {
  next_ = 0;
  end_ = 0;
  const std::int64_t near = NextOccupied();
  const std::int64_t far = far_.empty() ? INT64_MAX : far_.front().time >> shift_;
  if (near >= 0 && near <= far) {
    current_ = near;
    const auto slot = static_cast<std::size_t>(near & mask_);
    Gather(std::exchange(buckets_[slot], 0));
    occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  } else if (far != INT64_MAX) {
    current_ = far;
  }
  while (!far_.empty() && far_.front().time >> shift_ == current_) {
    PushElsewhere(far_.front(), current_);
    std::ranges::pop_heap(far_, Later());
    far_.pop_back();
  }
}

// By fractions of the bucket's width first: what is left is short, or of one time.
void CalendarQueue::SortToday() {
  const auto today = std::span(today_).first(end_);
  std::int64_t different = 0;
  for (const PacketEvent& event : today) different |= event.time ^ today[0].time;
  if (today.size() <= kShort || different == 0) {
    Sort(today);
    return;
  }
  constexpr std::size_t kParts = 64;
  const int shift = std::max(0, shift_ - 6);
  const auto part = [&](const PacketEvent& event) {
    return static_cast<std::size_t>(event.time >> shift) % kParts;
  };
  std::array<std::uint32_t, kParts> end{};
  for (const PacketEvent& event : today) ++end[part(event)];
  std::uint32_t sum = 0;
  for (std::uint32_t& count : end) count = std::exchange(sum, sum + count);
  if (scratch_.size() < today_.size()) scratch_.resize(today_.size());
  for (const PacketEvent& event : today) scratch_[end[part(event)]++] = event;
  today_.swap(scratch_);
  std::uint32_t begin = 0;
  for (const std::uint32_t until : end) {
    if (until - begin > 1) Sort(std::span(today_).subspan(begin, until - begin));
    begin = until;
  }
}

void CalendarQueue::Sort(std::span<PacketEvent> events) {
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

void HeapQueue::Push(const PacketEvent& event) {
  heap_.push_back(event);
  std::ranges::push_heap(heap_, Later());
}

void HeapQueue::Pop() {
  std::ranges::pop_heap(heap_, Later());
  heap_.pop_back();
}

}  // namespace trunkline
