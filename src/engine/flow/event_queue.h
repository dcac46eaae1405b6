#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/base/int128.h"
#include "trunkline/base/units.h"

namespace trunkline {

// A priority queue of dense ids by time whose entries can be moved or revoked in place. An id is
// queued at most once; ties leave in the order of ids.
//
// A 4-ary heap with back-pointers: half the levels of a binary one, and siblings share a cache
// line.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] Time next_time() const {
    return heap_.empty() ? Time::Max() : heap_.front().time();
  }
  [[nodiscard]] std::uint32_t next_id() const { return heap_.front().id(); }

  // When `id` is queued; Time::Max() when it is not.
  [[nodiscard]] Time time_of(std::uint32_t id) const {
    if (id >= slot_.size() || slot_[id] == kAbsent) return Time::Max();
    return heap_[slot_[id]].time();
  }

  // Queues `id` at `time`, or moves it there.
  void Set(std::uint32_t id, Time time) {
    if (id >= slot_.size()) slot_.resize(id + 1, kAbsent);
    const Entry entry(time, id);
    if (slot_[id] == kAbsent) {
      heap_.push_back(entry);
      SiftUp(heap_.size() - 1, entry);
    } else {
      Replace(slot_[id], entry);
    }
  }

  // Takes `id` out if it is queued.
  void Remove(std::uint32_t id) {
    if (id >= slot_.size() || slot_[id] == kAbsent) return;
    const std::size_t hole = slot_[id];
    slot_[id] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (hole < heap_.size()) Replace(hole, last);
  }

  std::uint32_t Pop() {
    const std::uint32_t id = next_id();
    Remove(id);
    return id;
  }

 private:
  // Times are not negative.
  class Entry {
   public:
    Entry(Time time, std::uint32_t id) : key_(static_cast<Uint128>(time.ps()) << 64 | id) {}
    [[nodiscard]] Time time() const {
      return Time::Picoseconds(static_cast<std::int64_t>(key_ >> 64));
    }
    [[nodiscard]] std::uint32_t id() const { return static_cast<std::uint32_t>(key_); }
    // Without a branch, which nobody could predict.
    [[nodiscard]] bool Before(const Entry& other) const { return key_ < other.key_; }

   private:
    Uint128 key_;
  };
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  void Place(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    slot_[entry.id()] = static_cast<std::uint32_t>(at);
  }

  void Replace(std::size_t at, const Entry& entry) {
    if (at > 0 && entry.Before(heap_[(at - 1) / 4])) {
      SiftUp(at, entry);
    } else {
      SiftDown(at, entry);
    }
  }

  void SiftUp(std::size_t at, const Entry& entry) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!entry.Before(heap_[parent])) break;
      Place(at, heap_[parent]);
      at = parent;
    }
    Place(at, entry);
  }

  void SiftDown(std::size_t at, const Entry& entry) {
    while (4 * at + 1 < heap_.size()) {
      const std::size_t best = FirstOf(4 * at + 1);
      if (!heap_[best].Before(entry)) break;
      Place(at, heap_[best]);
      at = best;
    }
    Place(at, entry);
  }

  // The first to leave of four siblings, or of as many as there are.
  [[nodiscard]] std::size_t FirstOf(std::size_t sibling) const {
    const std::size_t count = heap_.size() - sibling;
    if (count >= 4) {
      const std::size_t a = sibling + (IsBefore(sibling + 1, sibling) ? 1 : 0);
      const std::size_t b = sibling + 2 + (IsBefore(sibling + 3, sibling + 2) ? 1 : 0);
      return a + (b - a) * (IsBefore(b, a) ? 1 : 0);
    }
    std::size_t best = sibling;
    for (std::size_t i = 1; i < count; ++i) {
      if (IsBefore(sibling + i, best)) best = sibling + i;
    }
    return best;
  }
  [[nodiscard]] bool IsBefore(std::size_t a, std::size_t b) const {
    return heap_[a].Before(heap_[b]);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> slot_;  // by id: position in heap_
};

}  // namespace trunkline
