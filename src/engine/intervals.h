#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "trunkline/base/units.h"

namespace trunkline {

struct BusyInterval {
  Time start;
  Time end;
};

// The union of intervals, ordered, with the length that precedes each.
class IntervalUnion {
 public:
  explicit IntervalUnion(std::vector<BusyInterval> intervals) {
    if (!std::ranges::is_sorted(intervals, {}, &BusyInterval::start)) {
      std::ranges::sort(intervals, {}, &BusyInterval::start);
    }
    for (const BusyInterval& interval : intervals) {
      if (pieces_.empty() || interval.start > pieces_.back().end) {
        before_.push_back(length());
        pieces_.push_back(interval);
      } else {
        pieces_.back().end = std::max(pieces_.back().end, interval.end);
      }
    }
  }

  [[nodiscard]] Time length() const {
    if (pieces_.empty()) return Time();
    return before_.back() + (pieces_.back().end - pieces_.back().start);
  }

  // Length of the part of the union before `time`.
  [[nodiscard]] Time LengthBefore(Time time) const {
    const auto next = std::ranges::upper_bound(pieces_, time, {}, &BusyInterval::start);
    if (next == pieces_.begin()) return Time();
    const auto last = std::prev(next);
    const Time before = before_[static_cast<std::size_t>(last - pieces_.begin())];
    return before + (std::min(time, last->end) - last->start);
  }

  // Length of what is in both.
  [[nodiscard]] Time Overlap(const IntervalUnion& other) const {
    Time length;
    for (const BusyInterval& piece : pieces_) {
      length += other.LengthBefore(piece.end) - other.LengthBefore(piece.start);
    }
    return length;
  }

 private:
  std::vector<BusyInterval> pieces_;
  std::vector<Time> before_;
};

}  // namespace trunkline
