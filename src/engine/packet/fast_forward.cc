#include "engine/packet/fast_forward.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/packet/counter_list.h"
#include "trunkline/base/check.h"
#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

// What `count`, of `over`, comes to in `time`.
template <typename Count>
Count InProportion(Count count, Time time, Time over) {
  return static_cast<Count>((Int128{count} * time.ps() + over.ps() / 2) / over.ps());
}

}  // namespace

FastForward::FastForward(Plant& plant, ShardSet& shards, const FastForwarding& settings)
    : plant_(plant), shards_(shards) {
  result_.tolerance = settings.tolerance;
}

void FastForward::Begin(std::uint32_t queue_pair) {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  slots_[free_.back()] = {.queue_pair = queue_pair, .since = now_ + 1};
  free_.pop_back();
  changed_ = true;
  const Time round_trip = plant_.paths[queue_pair].base_rtt;
  const Time least =
      std::max(round_trip * 2, Time::Picoseconds(plant_.transport.policy.reconsider.ps() / 2));
  if (least <= step_) return;
  step_ = least;
  Restart();
}

// Nothing is known of what has moved.
void FastForward::Restart() {
  EndWatch();
  readings_.clear();
  now_ = 0;
  for (Slot& slot : slots_) slot.since = 1;
}

Time FastForward::Next(Time next_event) {
  if (next_event == Time::Max()) return next_event;
  if (next_event >= next_) {
    // Nothing moves until then.
    Restart();
    next_ = next_event + std::max(step_, Time::Picoseconds(1));
  }
  return next_;
}

bool FastForward::HasEnded(std::uint32_t queue_pair) const {
  const Sender& sender = plant_.senders[queue_pair];
  const std::uint32_t posted =
      plant_.transport.sockets ? plant_.send_sockets[queue_pair].posted : sender.end;
  return sender.failed || (posted != 0 && sender.acked == posted);
}

void FastForward::Look(Time at, Time limit) {
  const auto is_over = [&](const Slot& slot) {
    return slot.queue_pair != kNoIndex && HasEnded(slot.queue_pair);
  };
  const auto ends = [&](const Slot& slot) {
    return slot.queue_pair != kNoIndex && Unsent(slot) == 0;
  };
  if (std::exchange(changed_, false) || std::ranges::any_of(slots_, ends)) EndWatch();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!is_over(slots_[i])) continue;
    slots_[i] = {};
    free_.push_back(i);
  }
  Read();
  if (watch_) GoOnWatching(at, limit);
  if (!watch_ || watch_->skipped == Time()) Try(at, limit);
  next_ = at + step_;
}

// Notes what has moved. A reading is kept for as long as a scale needs it.
void FastForward::Read() {
  Reading& reading = readings_.emplace_back(Reading{.step = ++now_, .counts = {}});
  reading.counts.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    Count count;
    if (slot.queue_pair != kNoIndex) {
      count = {.sent = plant_.senders[slot.queue_pair].sent,
               .received = plant_.receivers[slot.queue_pair].received};
    }
    reading.counts.push_back(count);
  }
  std::erase_if(readings_, [&](const Reading& old) {
    const int scale = std::min(std::countr_zero(old.step), kScales);
    return now_ - old.step > std::uint64_t{2 * kWindows} << scale;
  });
}

const FastForward::Reading& FastForward::ReadingAt(std::uint64_t step) const {
  const auto found = std::ranges::lower_bound(readings_, step, {}, &Reading::step);
  TL_CHECK(found != readings_.end() && found->step == step, "a reading is gone", step, now_);
  return *found;
}

// Looks for windows that agree, the longest first: of short ones that are watched, and have not
// been of use, some will agree by chance.
void FastForward::Try(Time at, Time limit) {
  const std::optional<Watch> before = std::exchange(watch_, {});
  const int least = before ? before->scale + 1 : 0;
  for (int scale = std::min(std::countr_zero(now_), kScales); scale >= least; --scale) {
    watch_ = Watch{
        .scale = scale, .from = 0, .seen = kWindows, .marked = now_, .skipped = {}, .marks = {}};
    const std::uint64_t span = kWindows * window_steps();
    if (span >= now_ || limit < window() * (2 * kWindows)) continue;
    watch_->from = now_ - span;
    if (AreSteady()) {
      watch_->marks = ReadMarks(at);
      return;
    }
  }
  watch_ = before;
}

// Whether all that is under way kept its pace in the windows since `from`, and will not end soon.
bool FastForward::AreSteady() {
  bool any = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.queue_pair == kNoIndex) continue;
    if (slot.since > watch_->from) return false;
    const Slot seen = SeenSinceFrom(i);
    const double pace = PaceOf(seen, i);
    if (!KeepsPace(seen, pace) || Unsent(slot) < 2 * kWindows * pace) return false;
    any = true;
  }
  for (std::size_t i = 0; i < slots_.size() && any; ++i) {
    if (slots_[i].queue_pair != kNoIndex) slots_[i] = SeenSinceFrom(i);
  }
  return any;
}

// A slot as the first windows of a watch show it.
FastForward::Slot FastForward::SeenSinceFrom(std::size_t index) const {
  Slot slot = {.queue_pair = slots_[index].queue_pair,
               .since = slots_[index].since,
               .first = ReadingAt(watch_->from).counts[index].received,
               .lowest = std::numeric_limits<double>::max()};
  for (int w = 1; w <= kWindows; ++w) {
    Fold(slot, index, watch_->from + static_cast<std::uint64_t>(w) * window_steps());
  }
  return slot;
}

// Takes account of the window that ends at step `end`.
void FastForward::Fold(Slot& slot, std::size_t index, std::uint64_t end) const {
  const Count begin = ReadingAt(end - window_steps()).counts[index];
  const Count middle = ReadingAt(end - window_steps() / 2).counts[index];
  const Count now = ReadingAt(end).counts[index];
  const double sent = now.sent - begin.sent;
  const double received = now.received - begin.received;
  slot.lowest = std::min({slot.lowest, sent, received});
  slot.highest = std::max({slot.highest, sent, received});
  slot.sum += received;
  slot.weighted += received * static_cast<double>((end - watch_->from) / window_steps());
  slot.stray = std::max(slot.stray, std::abs(middle.received - begin.received - received / 2));
}

// Packets of a window, on average since the watch began.
double FastForward::PaceOf(const Slot& slot, std::size_t index) const {
  const double moved = readings_.back().counts[index].received - slot.first;
  return moved * static_cast<double>(window_steps()) / static_cast<double>(now_ - watch_->from);
}

// By how much the pace changes from window to window, by the line of least squares.
double FastForward::SlopeOf(const Slot& slot) const {
  const double n = watch_->seen;
  return std::abs(slot.weighted - slot.sum * (n + 1) / 2) * 12 / (n * (n * n - 1));
}

// How far from `pace` that of any window was, relative to what it does to times. A steady pace of
// 7.5 packets is one of 7 and 8: a packet more or less is none.
double FastForward::BandOf(const Slot& slot, double pace) {
  const double slower = std::min(slot.lowest + 1, pace);
  const double faster = std::max(slot.highest - 1, pace);
  return std::max(pace / slower - 1, 1 - pace / faster);
}

bool FastForward::KeepsPace(const Slot& slot, double pace) const {
  return pace > 0 && BandOf(slot, pace) <= result_.tolerance;
}

// How far the pace of the next `windows`, after so many that have been skipped, may be from `pace`,
// relative to what it does to times: the band, a trend that goes on, and a count of whole packets.
double FastForward::DoubtOf(const Slot& slot, double pace, double skipped, double windows) const {
  const double seen = watch_->seen;
  return BandOf(slot, pace) +
         (SlopeOf(slot) * (seen / 2 + skipped + windows / 2) + 1 / seen) / pace;
}

void FastForward::GoOnWatching(Time at, Time limit) {
  const std::uint64_t watched = now_ - watch_->marked;
  if (watched % window_steps() != 0) return;
  ++watch_->seen;
  bool steady = true;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.queue_pair == kNoIndex) continue;
    Fold(slot, i, now_);
    steady = steady && KeepsPace(slot, PaceOf(slot, i));
  }
  if (!steady) {
    EndWatch();
  } else if (watched == kWindows * window_steps()) {
    Settle();
    Skip(at, limit);
    watch_->marked = now_;
    watch_->marks = ReadMarks(at);
  }
}

void FastForward::EndWatch() {
  Settle();
  watch_.reset();
}

// --- Skipping -----------------------------------------------------------------------------------

std::uint32_t FastForward::Unsent(const Slot& slot) const {
  return ShardOf(slot).Unsent(slot.queue_pair);
}

ShardSet::Kernel& FastForward::ShardOf(const Slot& slot) const {
  return shards_.shard(plant_.cables[plant_.senders[slot.queue_pair].link].from_shard);
}

// How long everything may go on as it does.
Time FastForward::LongestSkip(Time limit) const {
  const double skipped = InWindows(watch_->skipped);
  double windows = std::min(kStretch * watch_->seen - skipped, InWindows(limit));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.queue_pair == kNoIndex) continue;
    windows = std::min(windows, Unsent(slot) / PaceOf(slot, i) - kSpareWindows);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.queue_pair == kNoIndex) continue;
    const double pace = PaceOf(slot, i);
    while (windows >= kWindows && DoubtOf(slot, pace, skipped, windows) > result_.tolerance) {
      windows *= kLess;
    }
  }
  if (windows < kWindows) return {};
  return Time::Picoseconds(static_cast<std::int64_t>(windows * static_cast<double>(window().ps())));
}

void FastForward::Skip(Time at, Time limit) {
  const Time time = std::min(LongestSkip(limit), limit);
  if (time == Time()) return;
  const double windows = InWindows(time);
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.queue_pair == kNoIndex) continue;
    slot.pace = PaceOf(slot, i);
    const auto packets = static_cast<std::uint32_t>(std::llround(slot.pace * windows));
    ShardOf(slot).Shorten(slot.queue_pair, packets);
    moved += packets;
  }
  AddMarks(ReadMarks(at), time, moved);
  ++result_.skips;
  result_.skipped += time;
  watch_->skipped += time;
  unsettled_ = time;
}

// What comes after the newest skip is known as far as it will be.
void FastForward::Settle() {
  if (unsettled_ == Time()) return;
  double seconds = 0;
  for (const Slot& slot : slots_) {
    if (slot.queue_pair != kNoIndex) seconds = std::max(seconds, ErrorOf(slot));
  }
  result_.error += Time::FromSeconds(seconds);
  unsettled_ = {};
}

// Of the newest skip, in seconds.
double FastForward::ErrorOf(const Slot& slot) const {
  const PathView& path = plant_.paths[slot.queue_pair];
  const double window = this->window().seconds();
  const double line = path.line_rate.bytes_per_second() * window /
                      static_cast<double>(path.frame.count());  // packets of a window
  const double phase = (1 + 2 * slot.stray) / slot.pace + std::max(1 - slot.pace / line, 0.0) / 2;
  const double doubt =
      DoubtOf(slot, slot.pace, InWindows(watch_->skipped - unsettled_), InWindows(unsettled_));
  return unsettled_.seconds() * doubt + window * phase;
}

// --- Counters -----------------------------------------------------------------------------------

FastForward::Marks FastForward::ReadMarks(Time at) const {
  Marks marks;
  marks.counters = shards_.counters();
  for (std::size_t i = 0; i < plant_.ports.size(); ++i) {
    marks.links.push_back({.wire_bytes = plant_.ports[i].wire_bytes,
                           .packets = plant_.ports[i].packets,
                           .marks = plant_.marks[i]});
  }
  for (std::size_t queue = 0; queue < plant_.pauses.size(); ++queue) {
    const std::size_t classes = plant_.switches_model.classes;
    const Pause& pause = plant_.pauses[queue];
    const bool paused = (plant_.ports[queue / classes].paused >> queue % classes & 1) != 0;
    marks.queues.push_back({.pauses = plant_.ingress[queue].pauses,
                            .paused = pause.past + (paused ? at.ps() - pause.since : 0)});
  }
  return marks;
}

// Adds what `time` would have brought if it went on as from the newest marks to `now`, and moved so
// many packets.
void FastForward::AddMarks(const Marks& now, Time time, std::uint64_t moved) {
  const Time over = step_ * static_cast<std::int64_t>(now_ - watch_->marked);
  const auto add = [&](auto& sum, auto since, auto until) {
    sum += InProportion(until - since, time, over);
  };
  const Marks& then = watch_->marks;
  added_.links.resize(now.links.size());
  added_.queues.resize(now.queues.size());
  ForEachCounter(add, added_.counters, then.counters, now.counters);
  std::uint64_t hops = 0;
  for (std::size_t i = 0; i < now.links.size(); ++i) {
    add(added_.links[i].wire_bytes, then.links[i].wire_bytes, now.links[i].wire_bytes);
    add(added_.links[i].packets, then.links[i].packets, now.links[i].packets);
    add(added_.links[i].marks, then.links[i].marks, now.links[i].marks);
    hops += added_.links[i].packets;
  }
  for (std::size_t i = 0; i < now.queues.size(); ++i) {
    add(added_.queues[i].pauses, then.queues[i].pauses, now.queues[i].pauses);
    add(added_.queues[i].paused, then.queues[i].paused, now.queues[i].paused);
  }
  // What is known whole, and sums that are to agree with their parts.
  moved_ += moved;
  PacketCounters& sums = added_.counters;
  sums.delivered_bytes = static_cast<std::int64_t>(moved_) * plant_.transport.mtu.count();
  sums.packets.data = moved_ + sums.retransmissions;
  sums.hops.data = hops - sums.hops.ack - sums.hops.control;
}

void FastForward::AddTo(PacketReport& report) {
  EndWatch();
  report.fast_forward = result_;
  if (result_.skips == 0) return;
  ForEachCounter([](auto& sum, auto added) { sum += added; }, report.counters, added_.counters);
  const std::size_t classes = plant_.switches_model.classes;
  for (PacketLinkUse& use : report.links) {
    const LinkMarks& added = added_.links[Index(use.link)];
    use.wire_bytes += added.wire_bytes;
    use.packets += added.packets;
    use.marks += added.marks;
    use.until += skipped();
    for (std::size_t c = 0; c < classes && !added_.queues.empty(); ++c) {
      use.pauses += added_.queues[Index(use.link) * classes + c].pauses;
    }
  }
  for (PacketPause& pause : report.pauses) {
    const QueueMarks& added = added_.queues[Index(pause.link) * classes + pause.traffic_class];
    pause.pauses += added.pauses;
    pause.paused += Time::Picoseconds(added.paused);
  }
}

}  // namespace trunkline
