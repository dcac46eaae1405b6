#include "engine/packet/calendar_queue.h"

#include <algorithm>
#include <bit>

namespace trunkline {
namespace {

constexpr std::int64_t kMinBuckets = 1024;
constexpr std::int64_t kMaxBuckets = 65'536;

struct Later {
  bool operator()(const PacketEvent& a, const PacketEvent& b) const { return b < a; }
};

// Insertion sort where a bucket is short, as it is meant to be.
void Sort(std::vector<PacketEvent>& events) {
  constexpr std::size_t kShort = 24;
  if (events.size() > kShort) {
    std::ranges::sort(events, std::less<>());
    return;
  }
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
}

void CalendarQueue::PushElsewhere(const PacketEvent& event, std::int64_t bucket) {
  ++size_;
  if (bucket <= current_) {
    // Of today: into its place among what is left.
    const auto place = std::upper_bound(today_.begin() + static_cast<std::ptrdiff_t>(next_),
                                        today_.end(), event, std::less<>());
    today_.insert(place, event);
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

std::uint32_t CalendarQueue::NewChunk(std::uint32_t previous) {
  if (free_chunks_.empty()) {
    free_chunks_.push_back(static_cast<std::uint32_t>(chunks_.size()));
    chunks_.emplace_back();
    previous_.push_back(0);
  }
  const std::uint32_t chunk = free_chunks_.back();
  free_chunks_.pop_back();
  previous_[chunk] = previous;
  return chunk;
}

void CalendarQueue::Turn() {
  today_.clear();
  next_ = 0;
  const std::int64_t near = NextOccupied();
  const std::int64_t far = far_.empty() ? INT64_MAX : far_.front().time >> shift_;
  if (near >= 0 && near <= far) {
    current_ = near;
    const auto slot = static_cast<std::size_t>(near & mask_);
    Bucket& bucket = buckets_[slot];
    for (std::uint32_t left = bucket.count; left > 0;) {
      const std::uint32_t here = (left - 1) % kChunk + 1;
      const auto events = std::span(chunks_[bucket.chunk].events).first(here);
      today_.insert(today_.end(), events.begin(), events.end());
      free_chunks_.push_back(bucket.chunk);
      bucket.chunk = previous_[bucket.chunk];
      left -= here;
    }
    bucket.count = 0;
    occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  } else {
    current_ = far;
  }
  while (!far_.empty() && far_.front().time >> shift_ == current_) {
    today_.push_back(far_.front());
    std::ranges::pop_heap(far_, Later());
    far_.pop_back();
  }
  Sort(today_);
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
