#include "engine/packet/shard_set.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/packet/counter_list.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/meeting.h"
#include "engine/packet/packet_network.h"
#include "fabric/analysis/partition.h"

namespace trunkline {
namespace {

// Events between two looks at the stop token, and windows likewise.
constexpr std::uint64_t kEventsBetweenLooks = 1 << 16;
constexpr std::uint64_t kWindowsBetweenLooks = 64;

// How long what crosses a cable takes at least: credits come back without a switch's delay.
Time CableTime(const Plant& plant, const Link& link, std::size_t index) {
  return plant.lanes.empty() ? Time::Picoseconds(plant.cables[index].delay) : link.latency;
}

std::vector<Time> CableTimes(const Plant& plant, const Fabric& fabric) {
  std::vector<Time> times;
  for (std::size_t i = 0; i < plant.cables.size(); ++i) {
    times.push_back(CableTime(plant, fabric.link(LinkId(i)), i));
  }
  return times;
}

}  // namespace

ShardSet::ShardSet(Plant& plant, const Fabric& fabric, std::uint32_t threads,
                   std::span<const std::uint64_t> work, Time least)
    : plant_(plant),
      parts_(PartitionFabric(fabric, threads, work, CableTimes(plant, fabric))),
      lookahead_(least) {
  count_ = parts_.empty() ? 1 : *std::ranges::max_element(parts_) + 1U;
  for (std::size_t i = 0; i < plant.cables.size() && count_ > 1; ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (parts_[Index(link.from)] == parts_[Index(link.to)]) continue;
    lookahead_ = std::min(lookahead_, CableTime(plant, link, i));
  }
  if (lookahead_ == Time()) {
    std::ranges::fill(parts_, std::uint16_t{0});
    count_ = 1;
  }
  if (count_ == 1) lookahead_ = Time::Max();
  for (std::size_t i = 0; i < plant.cables.size(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    plant.cables[i].from_shard = parts_[Index(link.from)];
    plant.ports[i].to_shard = parts_[Index(link.to)];
  }
}

void ShardSet::Start(const std::vector<PacketApplication*>& applications,
                     std::vector<ShardRunner*> runners) {
  runners_ = std::move(runners);
  QueueShape shape = ShapeOf(plant_);
  if (plant_.zones.count == 1) shape.bucket = shape.bucket * count_;
  readings_.resize(count_);
  for (std::uint32_t i = 0; i < count_; ++i) {
    shards_.push_back(
        std::make_unique<Kernel>(plant_, *applications[i], shape.bucket, shape.horizon));
    if (count_ > 1) shards_[i]->JoinShards(static_cast<std::uint16_t>(i), count_);
    shards_[i]->ScheduleFaults();
  }
}

void ShardSet::Run(Time until, const std::function<bool()>& stop) {
  if (count_ == 1) {
    RunAlone(until, stop);
  } else {
    RunTogether(until, stop);
  }
  const Time next = next_time();
  end_ = next >= until && next != Time::Max() ? until : last_event();
  for (const auto& shard : shards_) shard->CatchUpTo(end_);
}

// Where queues are news, windows end with the news' periods: what is read in one was written before
// it began, whoever runs beside whom. Returns the window's end.
Time ShardSet::Publish(Kernel& shard, Time begin, Time end, Reading& reading,
                       const std::function<void()>& meet) const {
  const std::int64_t period = begin.ps() / plant_.news.period;
  if (period != reading.period) {
    // As of the period before last, also where periods were skipped: nothing has happened since,
    // but queues that were there have grown shorter.
    const std::uint32_t write = 1 - reading.written;
    if (period > reading.period + 1) {
      shard.Publish(Time::Picoseconds((period - 1) * plant_.news.period), reading.written, write);
    }
    shard.Publish(Time::Picoseconds(period * plant_.news.period), write, reading.written);
    reading = {period, write};
    meet();
  }
  return std::min(end, Time::Picoseconds((period + 1) * plant_.news.period));
}

void ShardSet::RunAlone(Time until, const std::function<bool()>& stop) {
  if (plant_.news.period != 0) {
    RunTogether(until, stop);
    return;
  }
  while (!stop()) {
    if (!RunShard(0, until, kEventsBetweenLooks)) return;
  }
}

void ShardSet::RunTogether(Time until, const std::function<bool()>& stop) {
  // What a shard says as it comes to a meeting. Whoever comes to the next may meet one that still
  // reads what was said at this, but not one that reads what was said before.
  struct alignas(64) Word {
    Time next;
    bool stop = false;
  };
  std::array<std::vector<Word>, 2> words;
  words.fill(std::vector<Word>(count_));
  Meeting meeting(count_);
  const auto work = [&](std::uint32_t self) {
    Kernel& shard = *shards_[self];
    Reading& reading = readings_[self];
    shard.Fill(0);  // both sides are empty
    for (std::uint64_t window = 0;; ++window) {
      const std::uint32_t side = window % 2;
      words[side][self] = {std::min(shard.NextWindow(), NextBeside(self)),
                           self == 0 && window % kWindowsBetweenLooks == 0 && stop()};
      meeting.Wait();
      for (std::uint32_t other = 0; other < count_; ++other) {
        if (other != self) shard.Import(shards_[other]->outbox(side, self));
      }
      const Time begin = std::ranges::min_element(words[side], {}, &Word::next)->next;
      if (words[side][0].stop || begin >= until) return;
      shard.Fill(1 - side);
      Time end =
          std::min(until, begin > Time::Horizon() - lookahead_ ? Time::Max() : begin + lookahead_);
      end = std::min(end, shard.EndOfWindow(begin));
      if (plant_.news.period != 0) {
        end = Publish(shard, begin, end, reading, [&] { meeting.Wait(); });
      }
      RunShard(self, end, UINT64_MAX);
    }
  };
  // Nobody goes to a meeting before all are there: the system may lend fewer threads.
  enum class Gate : std::uint8_t { kShut, kOpen, kGone };
  std::atomic<Gate> gate = Gate::kShut;
  const auto open = [&gate](Gate to) {
    gate = to;
    gate.notify_all();
  };
  std::vector<std::jthread> threads;
  try {
    for (std::uint32_t i = 1; i < count_; ++i) {
      threads.emplace_back([&, i] {
        gate.wait(Gate::kShut);
        if (gate == Gate::kOpen) work(i);
      });
    }
  } catch (const std::system_error&) {
    open(Gate::kGone);
    throw;
  }
  open(Gate::kOpen);
  work(0);
}

Time ShardSet::next_time() const {
  Time next = Time::Max();
  for (std::uint32_t i = 0; i < count_; ++i) {
    next = std::min({next, shards_[i]->next_time(), NextBeside(i)});
  }
  return next;
}

std::vector<std::size_t> ShardSet::FindDeadlock(Time at) {
  std::size_t queue = 0;
  while (queue < plant_.queues.size() && !IsBlocked(plant_, queue)) ++queue;
  if (queue == plant_.queues.size()) return {};
  // A cable that goes down later loses what waits for it, and may free the others.
  const auto frees = [&](const CableChange& change) { return change.down && change.at >= at; };
  if (plant_.faults != nullptr && std::ranges::any_of(plant_.faults->changes, frees)) return {};
  std::vector<QueueWait> waits;
  for (const auto& shard : shards_) {
    shard->CatchUpTo(at);
    shard->ListWaits(at, waits);
  }
  return trunkline::FindDeadlock(plant_, std::move(waits));
}

PauseCauses ShardSet::pause_causes() const {
  PauseCauses all;
  for (const auto& shard : shards_)
    all.insert(shard->pause_causes().begin(), shard->pause_causes().end());
  return all;
}

PacketCounters ShardSet::counters() const {
  PacketCounters sum;
  for (const auto& shard : shards_) {
    const PacketCounters part = shard->counters();
    ForEachCounter([](auto& of_all, auto own) { of_all += own; }, sum, part);
  }
  return sum;
}

std::uint64_t ShardSet::events() const {
  std::uint64_t sum = 0;
  for (const auto& shard : shards_) sum += shard->events();
  return sum;
}

Time ShardSet::last_event() const {
  Time latest;
  for (const auto& shard : shards_) latest = std::max(latest, shard->last_event());
  return latest;
}

}  // namespace trunkline
