#include "engine/coupled/coupled_shard.h"

#include <algorithm>
#include <utility>

namespace trunkline {
namespace {

// No collective is answered from the memo: it knows no packets.
std::vector<char> AllOf(const FlowProblem& problem) {
  return std::vector<char>(problem.patterns.size(), 1);
}

}  // namespace

CoupledShard::CoupledShard(const EngineInput& input, const EngineOptions& options,
                           const FlowProblem& problem, Folding folding, PacketLines& lines)
    : folding_(std::move(folding)),
      carrier_(lines),
      runner_(input, options, problem, folding_, AllOf(problem), &carrier_) {}

void CoupledShard::Begin(ShardSet::Kernel& shard) {
  shard_ = &shard;
  carrier_.Use(shard);
  Run(Time(), UINT64_MAX);
}

bool CoupledShard::Run(Time end, std::uint64_t count) {
  const std::uint64_t before = shard_->events();
  bool goes_on = true;
  for (std::uint64_t step = 0; step < count && goes_on; ++step) {
    goes_on = runner_.Step(end);
    if (shard_->events() - before >= count) break;
  }
  ended_.store(runner_.awaited() - runner_.awaited_left(), std::memory_order_relaxed);
  events_.store(shard_->events(), std::memory_order_relaxed);
  return goes_on;
}

CoupledTasks::CoupledTasks(std::span<const std::unique_ptr<CoupledShard>> shards,
                           std::span<const std::uint32_t> part_of) {
  std::vector<std::uint32_t> count(shards.size());
  for (const auto& shard : shards) runners_.push_back(&shard->runner());
  for (const std::uint32_t part : part_of) places_.push_back({part, count[part]++});
}

std::vector<BlockedTask> CoupledTasks::Blocked() const {
  std::vector<BlockedTask> all;
  for (const TaskRunner* runner : runners_) {
    std::ranges::move(runner->Blocked(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &BlockedTask::rank);
  return all;
}

std::vector<Traffic> CoupledTasks::AllTraffic() const {
  std::vector<Traffic> sum;
  for (const TaskRunner* runner : runners_) {
    const std::vector<Traffic> part = runner->AllTraffic();
    sum.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      sum[i].transfers += part[i].transfers;
      sum[i].bytes += part[i].bytes;
    }
  }
  return sum;
}

FlowCounters CoupledTasks::counters() const {
  FlowCounters sum;
  for (const TaskRunner* runner : runners_) {
    const FlowCounters part = runner->counters();
    sum.solves += part.solves;
    sum.transfers_simulated += part.transfers_simulated;
  }
  return sum;
}

std::uint64_t CoupledTasks::events() const {
  std::uint64_t sum = 0;
  for (const TaskRunner* runner : runners_) sum += runner->events();
  return sum;
}

}  // namespace trunkline
