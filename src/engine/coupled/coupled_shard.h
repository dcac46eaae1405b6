#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/coupled/packet_carrier.h"
#include "engine/flow/fold.h"
#include "engine/flow/task_run.h"
#include "engine/flow/task_runner.h"
#include "engine/packet/shard_set.h"

namespace trunkline {

// The ranks of one shard: their task programs, and the packets that these send and wait for.
class CoupledShard final : public ShardRunner {
 public:
  // `folding`: of the ranks of the shard; everything else in it is that of the whole problem.
  CoupledShard(const EngineInput& input, const EngineOptions& options, const FlowProblem& problem,
               Folding folding, PacketLines& lines);
  // Starts what starts by itself.
  void Begin(ShardSet::Kernel& shard);

  Time NextTime() override { return runner_.NextTime(); }
  bool Run(Time end, std::uint64_t count) override;

  [[nodiscard]] PacketCarrier& carrier() { return carrier_; }
  [[nodiscard]] TaskRunner& runner() { return runner_; }
  [[nodiscard]] const TaskRunner& runner() const { return runner_; }
  // For who asks from another thread, as of some time ago.
  [[nodiscard]] std::uint64_t ended() const { return ended_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t events() const { return events_.load(std::memory_order_relaxed); }

 private:
  Folding folding_;
  PacketCarrier carrier_;
  TaskRunner runner_;
  ShardSet::Kernel* shard_ = nullptr;
  std::atomic<std::uint64_t> ended_ = 0;
  std::atomic<std::uint64_t> events_ = 0;
};

// The ranks of all shards.
class CoupledTasks final : public TaskRun {
 public:
  // `part_of`: by rank, the shard that it is in.
  CoupledTasks(std::span<const std::unique_ptr<CoupledShard>> shards,
               std::span<const std::uint32_t> part_of);

  [[nodiscard]] std::span<const TaskTimes> times(std::uint32_t rank) const override {
    return of(rank).times(places_[rank].rank);
  }
  [[nodiscard]] const Program& program_of(std::uint32_t rank) const override {
    return of(rank).program_of(places_[rank].rank);
  }
  [[nodiscard]] std::vector<BlockedTask> Blocked() const override;
  [[nodiscard]] std::vector<Traffic> AllTraffic() const override;
  [[nodiscard]] FlowCounters counters() const override;
  [[nodiscard]] std::uint64_t events() const override;

 private:
  struct Place {
    std::uint32_t shard = 0;
    std::uint32_t rank = 0;  // among those of the shard
  };
  [[nodiscard]] const TaskRunner& of(std::uint32_t rank) const {
    return *runners_[places_[rank].shard];
  }

  std::vector<const TaskRunner*> runners_;  // by shard
  std::vector<Place> places_;               // by rank
};

}  // namespace trunkline
