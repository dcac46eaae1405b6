#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/packet/plant.h"
#include "engine/packet/shard_set.h"
#include "trunkline/base/units.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// Skips what a steady run would only repeat.
//
// Where every queue pair keeps its pace, the network at t + S is the network at t but for the time
// and for the packets that have moved. So clocks, queues and events stay as they are: each message
// under way loses the packets that would have moved in S, counters gain what S would have brought,
// and from then on the run's own time is S further ahead of the shards' clock.
//
// Packets sent and received are read at steps of two round trips or half the time that congestion
// control takes between changes of its own, whichever is longer. A run is steady while windows of
// 2 x 2^n steps, for some n, agree in both: a queue that fills or drains shows as senders that are
// faster or slower than receivers. Four windows have a run watched, four more confirm it, and after
// each skip four more are watched before the next. All together are no longer than twelve times
// what was seen, and none ends closer than two windows to the end of a message.
//
// The error of a skip of S has two parts. Had a pace been another of the band that windows showed
// until then and show thereafter, the packets that were taken off would have taken S x pace / other
// pace. The trend of the line of least squares through the windows is taken to have gone on since
// they began. A skip is only as long as keeps these below the tolerance. And S need not be a whole
// number of periods: the run goes on in another phase, which is worth how far packets stray from an
// even pace, as seen in the middle of windows, and at most the rest of the line's rate for the half
// of a window in which nothing was seen. The worst queue pair's errors of all skips are added up,
// since one may wait for the end of another.
//
// What is decided is decided between events from sums over all shards, so that it does not depend
// on how many there are.
class FastForward {
 public:
  FastForward(Plant& plant, ShardSet& shards, const FastForwarding& settings);

  // A queue pair has a message to send, its only one.
  void Begin(std::uint32_t queue_pair);
  // When to look, on the shards' clock, given the time of their next event.
  [[nodiscard]] Time Next(Time next_event);
  [[nodiscard]] bool IsDue(Time at) const { return at == next_; }
  // Looks at what has moved, and may skip some time, up to `limit`. REQUIRES: IsDue(at), all events
  // before have been handled, and all ports have caught up.
  void Look(Time at, Time limit);

  // How far the run's time is ahead of the shards' clock.
  [[nodiscard]] Time skipped() const { return result_.skipped; }
  // What has been skipped, and its share of all other figures. REQUIRES: nothing more happens.
  void AddTo(PacketReport& report);

 private:
  // That have to agree, and again to confirm it: a trend takes three, and one more to contradict
  // it.
  static constexpr int kWindows = 4;
  // Of windows: the longest is of 2 x 2^12 steps or 16,384 round trips, 160 ms at 10 us, which few
  // messages last. Memory is a reading for each scale and window.
  static constexpr int kScales = 12;
  // Windows skipped for each that was seen, at most: 12 in 13 of the time, 92 %, which the incast
  // under credits reaches. More would save at most the last 8 % and draw trends out further.
  static constexpr int kStretch = 12;
  // What is too long is shortened by an eighth until it fits, so that what is skipped is at most an
  // eighth short of the longest; a trial looks at one queue pair.
  static constexpr double kLess = 0.875;
  // That any message has left after a skip: one may end between two readings, and the other is
  // whole.
  static constexpr int kSpareWindows = 2;

  struct Count {
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };
  // What had moved at a step, by slot.
  struct Reading {
    std::uint64_t step = 0;
    std::vector<Count> counts;
  };
  // A queue pair under way.
  struct Slot {
    std::uint32_t queue_pair = kNoIndex;  // kNoIndex: the slot is free
    std::uint64_t since = 0;              // its first step
    // While its pace is watched:
    std::uint32_t first = 0;  // received when that began
    double lowest = 0;        // packets of a window, the fewest of any …
    double highest = 0;       // … and the most
    double stray = 0;         // packets beside an even pace in the middle of a window
    double sum = 0;           // of the packets received in windows …
    double weighted = 0;      // … and of those times the numbers of the windows, from 1
    double pace = 0;          // packets of a window that the newest skip counted on
  };
  // Counters at a step.
  struct LinkMarks {
    std::int64_t wire_bytes = 0;
    std::uint64_t packets = 0;
    std::uint64_t marks = 0;
  };
  struct QueueMarks {
    std::uint64_t pauses = 0;
    std::int64_t paused = 0;  // ps
  };
  struct Marks {
    PacketCounters counters;
    std::vector<LinkMarks> links;    // by link
    std::vector<QueueMarks> queues;  // [link x classes + class]; kPause only
  };
  // Paces are known and watched.
  struct Watch {
    int scale = 0;
    std::uint64_t from = 0;    // step at which the first window began
    int seen = 0;              // windows since
    std::uint64_t marked = 0;  // step at which the newest four began …
    Time skipped;              // since `from`
    Marks marks;               // … and the counters then
  };

  [[nodiscard]] bool HasEnded(std::uint32_t queue_pair) const;
  void Restart();
  void Read();
  [[nodiscard]] const Reading& ReadingAt(std::uint64_t step) const;
  void Try(Time at, Time limit);
  [[nodiscard]] bool AreSteady();
  [[nodiscard]] Slot SeenSinceFrom(std::size_t index) const;
  void Fold(Slot& slot, std::size_t index, std::uint64_t end) const;
  [[nodiscard]] double PaceOf(const Slot& slot, std::size_t index) const;
  [[nodiscard]] double SlopeOf(const Slot& slot) const;
  [[nodiscard]] static double BandOf(const Slot& slot, double pace);
  [[nodiscard]] double DoubtOf(const Slot& slot, double pace, double skipped, double windows) const;
  [[nodiscard]] bool KeepsPace(const Slot& slot, double pace) const;
  void GoOnWatching(Time at, Time limit);
  void EndWatch();
  [[nodiscard]] std::uint32_t Unsent(const Slot& slot) const;
  [[nodiscard]] ShardSet::Kernel& ShardOf(const Slot& slot) const;
  [[nodiscard]] Time LongestSkip(Time limit) const;
  void Skip(Time at, Time limit);
  void Settle();
  [[nodiscard]] double ErrorOf(const Slot& slot) const;
  [[nodiscard]] Marks ReadMarks(Time at) const;
  void AddMarks(const Marks& now, Time time, std::uint64_t moved);
  [[nodiscard]] std::uint64_t window_steps() const { return std::uint64_t{2} << watch_->scale; }
  [[nodiscard]] double InWindows(Time time) const { return time.seconds() / window().seconds(); }
  [[nodiscard]] Time window() const { return step_ * static_cast<std::int64_t>(window_steps()); }

  Plant& plant_;
  ShardSet& shards_;
  SkippedTime result_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
  bool changed_ = false;  // a queue pair has begun since the newest step
  Time step_;
  Time next_;
  std::uint64_t now_ = 0;          // the newest step
  std::vector<Reading> readings_;  // oldest first
  std::optional<Watch> watch_;
  Time unsettled_;           // the newest skip, while what comes after it is watched
  Marks added_;              // what skipped time would have brought …
  std::uint64_t moved_ = 0;  // … of it, packets taken off messages
};

}  // namespace trunkline
