#include "engine/analytic/groups_together.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/intervals.h"

namespace trunkline {
namespace {

// Of each stream of a rank, in the order of its program.
using StreamIntervals = std::map<std::uint8_t, std::vector<BusyInterval>>;

bool LeavesNode(const EngineInput& input, RankId rank, std::uint32_t role) {
  const Fabric& fabric = input.router.fabric();
  const auto node_of = [&](RankId id) { return fabric.device(input.placement.endpoint(id)).node; };
  const std::uint32_t own = node_of(rank);
  return std::ranges::any_of(input.graph.members(input.graph.communicator(rank, role)),
                             [&](RankId member) { return node_of(member) != own; });
}

// From when all members had come, not from when the rank began to wait for them.
Result<StreamIntervals> IntervalsOf(const EngineInput& input, const StepRun::Rank& rank,
                                    StepCosts& costs) {
  std::map<std::uint32_t, bool> leaves;  // by role
  StreamIntervals intervals;
  for (std::size_t i = 0; i < rank.times.size(); ++i) {
    const Task& task = rank.program->tasks[i];
    if (task.kind != TaskKind::kCollective || rank.times[i].end == StepRun::kUnknown) continue;
    const auto [known, added] = leaves.try_emplace(task.role);
    if (added) known->second = LeavesNode(input, rank.id, task.role);
    if (!known->second) continue;
    const auto alone = costs.Collective(rank.groups[task.role], task.collective);
    if (!alone) return std::unexpected(alone.error());
    const auto& [start, sent, end] = rank.times[i];
    intervals[task.stream].push_back({std::max(start, end - *alone), end});
  }
  return intervals;
}

}  // namespace

Result<GroupsTogether> LongestTogether(const EngineInput& input, const StepRun& run,
                                       StepCosts& costs) {
  GroupsTogether longest;
  for (const StepRun::Rank& rank : run.ranks()) {
    const auto intervals = IntervalsOf(input, rank, costs);
    if (!intervals) return std::unexpected(intervals.error());
    std::vector<std::pair<std::uint8_t, IntervalUnion>> streams;
    for (const auto& [stream, busy] : *intervals) streams.emplace_back(stream, IntervalUnion(busy));
    for (auto a = streams.begin(); a != streams.end(); ++a) {
      for (auto b = std::next(a); b != streams.end(); ++b) {
        const Time time = a->second.Overlap(b->second);
        if (time <= longest.time) continue;
        longest = {.time = time,
                   .first = input.graph.streams()[a->first],
                   .second = input.graph.streams()[b->first]};
      }
    }
  }
  return longest;
}

}  // namespace trunkline
