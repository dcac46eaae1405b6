#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/packet/plant.h"
#include "engine/packet/shard.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Runs a shard together with what decides what its packets carry, in the shard's place.
class ShardRunner {
 public:
  virtual ~ShardRunner() = default;
  // When something happens next beside packets; Time::Max(): never, as far as is known.
  virtual Time NextTime() = 0;
  // Has happen what does before `end`, at least `count` events of it if there are so many; false:
  // all has.
  virtual bool Run(Time end, std::uint64_t count) = 0;
};

// The shards of one run. One shard is the whole fabric; several run side by side, a thread each, in
// windows as long as the shortest cut cable delays what crosses it, so that nothing that happens in
// a window can matter to another shard before the next (conservative synchronisation: Chandy and
// Misra, CACM 24(4), 1981). Results do not depend on how many there are.
class ShardSet {
 public:
  using Kernel = Shard<CalendarQueue, true>;

  // Divides the plant among up to `threads` shards of about equal work (by device; empty: that of
  // its ports): fewer where the fabric has too few switches or a cut cable has no latency. What
  // applications signal each other brings nothing about before `least` has passed. REQUIRES: no
  // queue pair is set up yet.
  ShardSet(Plant& plant, const Fabric& fabric, std::uint32_t threads,
           std::span<const std::uint64_t> work = {}, Time least = Time::Max());

  [[nodiscard]] std::uint32_t count() const { return count_; }
  // The shard that a device belongs to.
  [[nodiscard]] std::uint32_t shard_of(DeviceId device) const { return parts_[Index(device)]; }

  // Makes the shards; applications[i] hears what happens in shard i, from its thread, and
  // runners[i], if there are any, runs it.
  void Start(const std::vector<PacketApplication*>& applications,
             std::vector<ShardRunner*> runners = {});
  // From now on shards run without them.
  void LeaveRunners() { runners_.clear(); }
  [[nodiscard]] Kernel& shard(std::uint32_t i) { return *shards_[i]; }

  // Runs until nothing is left to happen before `until`, or `stop` says so; `stop` is asked now and
  // then, between windows.
  void Run(Time until, const std::function<bool()>& stop);

  // When something happens next; Time::Max() when nothing is left to happen.
  [[nodiscard]] Time next_time() const;
  // The cycle of a deadlock at `at` (engine/packet/deadlock.h); empty: there is none. REQUIRES:
  // Run(at, …) has handled all events before.
  [[nodiscard]] std::vector<std::size_t> FindDeadlock(Time at);

  // Over all shards.
  [[nodiscard]] PacketCounters counters() const;
  [[nodiscard]] PauseCauses pause_causes() const;
  [[nodiscard]] std::uint64_t events() const;
  [[nodiscard]] Time last_event() const;  // that any result counts
  // When the run ended: at its limit or, with nothing left to happen, at the last event.
  [[nodiscard]] Time end() const { return end_; }

 private:
  // Which news of queues a shard reads.
  struct Reading {
    std::int64_t period = -1;
    std::uint32_t written = 0;  // the slot written last
  };
  [[nodiscard]] Time Publish(Kernel& shard, Time begin, Time end, Reading& reading,
                             const std::function<void()>& meet) const;
  bool RunShard(std::uint32_t i, Time end, std::uint64_t count) {
    return runners_.empty() ? shards_[i]->Run(end, count) != 0 : runners_[i]->Run(end, count);
  }
  [[nodiscard]] Time NextBeside(std::uint32_t i) const {
    return runners_.empty() ? Time::Max() : runners_[i]->NextTime();
  }
  void RunAlone(Time until, const std::function<bool()>& stop);
  void RunTogether(Time until, const std::function<bool()>& stop);

  Plant& plant_;
  std::vector<std::uint16_t> parts_;  // by device
  std::uint32_t count_ = 1;
  Time lookahead_;
  Time end_;
  std::vector<std::unique_ptr<Kernel>> shards_;
  std::vector<ShardRunner*> runners_;  // by shard; empty: shards run by themselves
  std::vector<Reading> readings_;      // by shard
};

}  // namespace trunkline
