#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/flow/event_queue.h"
#include "trunkline/base/units.h"

namespace trunkline {

// A priority queue of dense ids by time for what is queued a delay ahead of a clock, where delays
// are of few lengths: those of one length come in order. Entries stay as they are until they leave;
// ties leave in an order that depends on that in which they came alone.
//
// A few runs in order, each entry in the first whose last one is not later; a heap for what fits
// into none.
class RunQueue {
 public:
  [[nodiscard]] bool empty() const { return next_time() == Time::Max(); }
  [[nodiscard]] Time next_time() const { return heads_[next_]; }
  // REQUIRES: !empty().
  [[nodiscard]] std::uint32_t next_id() const {
    return next_ == kRuns ? rest_.next_id() : runs_[next_].entries[runs_[next_].first].id;
  }

  // REQUIRES: `id` is not queued, and time < Time::Max().
  void Add(std::uint32_t id, Time time) {
    std::size_t at = 0;
    while (at < kRuns && runs_[at].last > time) ++at;
    if (at == kRuns) {
      rest_.Set(id, time);
      heads_[kRuns] = rest_.next_time();
    } else {
      Run& run = runs_[at];
      if (heads_[at] == Time::Max()) {
        heads_[at] = time;
        used_ = std::max(used_, at + 1);
      }
      run.entries.push_back({time, id});
      run.last = time;
    }
    if (heads_[at] < heads_[next_]) next_ = at;
  }

  // REQUIRES: !empty().
  std::uint32_t Pop() {
    const std::uint32_t id = next_id();
    if (next_ == kRuns) {
      rest_.Pop();
      heads_[kRuns] = rest_.next_time();
    } else {
      heads_[next_] = runs_[next_].DropFirst();
    }
    next_ = kRuns;
    for (std::size_t at = 0; at < used_; ++at) {
      if (heads_[at] < heads_[next_]) next_ = at;
    }
    return id;
  }

 private:
  struct Entry {
    Time time;
    std::uint32_t id = 0;
  };
  struct Run {
    std::vector<Entry> entries;  // those before `first` have left
    std::size_t first = 0;
    Time last;  // of the entry that came last; zero: it is empty

    // Returns when the next one leaves; Time::Max(): there is none.
    Time DropFirst() {
      ++first;
      if (first == entries.size()) {
        entries.clear();
        first = 0;
        last = Time();
        return Time::Max();
      }
      if (first >= kGap && 2 * first >= entries.size()) {
        entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(first));
        first = 0;
      }
      return entries[first].time;
    }
  };
  static constexpr std::size_t kRuns = 8;
  static constexpr std::size_t kGap = 64;  // that is worth to be closed

  [[nodiscard]] static constexpr std::array<Time, kRuns + 1> NoHeads() {
    std::array<Time, kRuns + 1> heads;
    heads.fill(Time::Max());
    return heads;
  }

  std::array<Time, kRuns + 1> heads_ = NoHeads();  // of the runs, then of the heap
  std::size_t next_ = kRuns;                       // whose head leaves next
  std::size_t used_ = 0;                           // runs that have ever had entries
  std::array<Run, kRuns> runs_;
  EventQueue rest_;
};

}  // namespace trunkline
