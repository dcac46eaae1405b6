#include "scenario/step_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// The executions of one collective in a program.
struct Use {
  std::uint8_t stream = 0;
  std::uint32_t role = 0;
  std::uint32_t collective = 0;
  std::int64_t count = 0;
};

// What a program keeps each of its streams busy with.
struct Work {
  std::vector<Time> compute;  // by stream
  std::vector<Use> uses;      // few: searched one by one
};

Work WorkOf(const Program& program, std::size_t streams) {
  Work work{.compute = std::vector<Time>(streams), .uses = {}};
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) work.compute[task.stream] += task.duration;
    if (task.kind != TaskKind::kCollective) continue;
    auto use = std::ranges::find_if(work.uses, [&](const Use& known) {
      return known.collective == task.collective && known.role == task.role &&
             known.stream == task.stream;
    });
    if (use == work.uses.end()) {
      use = work.uses.insert(use, {task.stream, task.role, task.collective, 0});
    }
    ++use->count;
  }
  return work;
}

// The bounds of a graph's collectives in its groups, each shape of group looked at once.
class GroupBounds {
 public:
  GroupBounds(const TaskGraph& graph, const BuiltFabric& built, const Placement& placement,
              const FabricCosts& costs)
      : graph_(graph),
        built_(built),
        placement_(placement),
        costs_(costs),
        shape_of_(graph.communicator_count(), kUnknown) {}

  // Of one rank's groups, as an engine found them; where groups that sit alike do not fare alike,
  // it may have looked at others.
  void Learn(const Timeline& timeline) {
    if (!costs_.alike() || timeline.ranks.empty()) return;
    const RankId rank = timeline.ranks[timeline.critical].rank;
    for (const CollectiveSummary& summary : timeline.collectives) {
      Shape& shape = ShapeAt(graph_.communicator(rank, summary.role));
      shape.bounds[summary.collective] = summary.bound;
    }
  }

  Result<Time> Of(CommunicatorId communicator, std::uint32_t collective) {
    Shape& shape = ShapeAt(communicator);
    std::optional<Time>& bound = shape.bounds[collective];
    if (!bound) {
      const auto found = costs_.BoundOf(shape.members, graph_.collectives()[collective]);
      if (!found) return std::unexpected(found.error());
      bound = *found;
    }
    return *bound;
  }

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  struct Shape {
    std::vector<DeviceId> members;            // of the first group that has it
    std::vector<std::optional<Time>> bounds;  // by collective
  };

  Shape& ShapeAt(CommunicatorId communicator) {
    std::uint32_t& number = shape_of_[Index(communicator)];
    if (number == kUnknown) number = ShapeOf(communicator);
    return shapes_[number];
  }

  // Where groups that sit alike fare alike, one stands for all whose first members have one place
  // in their nodes and whose others lie at the same distances from them, in devices and in units.
  std::uint32_t ShapeOf(CommunicatorId communicator) {
    std::vector<DeviceId> members;
    std::vector<std::uint64_t> key;
    const auto unit = [&](const Device& device) {
      return device.node < built_.unit_of_node.size() ? built_.unit_of_node[device.node] : 0;
    };
    for (const RankId rank : graph_.members(communicator)) {
      members.push_back(placement_.endpoint(rank));
      const Device& first = built_.fabric.device(members.front());
      const Device& device = built_.fabric.device(members.back());
      if (members.size() == 1) key.push_back(device.local);
      key.push_back(std::uint64_t{Index(members.back())} - Index(members.front()));
      key.push_back(std::uint64_t{unit(device)} - unit(first));
    }
    if (!costs_.alike()) key = {Index(communicator)};
    const auto number = static_cast<std::uint32_t>(shapes_.size());
    const auto [known, added] = numbers_.try_emplace(std::move(key), number);
    if (added) {
      shapes_.push_back({std::move(members), {}});
      shapes_.back().bounds.resize(graph_.collectives().size());
    }
    return known->second;
  }

  const TaskGraph& graph_;
  const BuiltFabric& built_;
  const Placement& placement_;
  const FabricCosts& costs_;
  std::vector<std::uint32_t> shape_of_;  // by communicator
  std::vector<Shape> shapes_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> numbers_;  // of shapes, by key
};

}  // namespace

Result<Time> StepBound(const TaskGraph& graph, const Timeline& timeline, const BuiltFabric& built,
                       const Placement& placement, const FabricCosts& costs) {
  std::vector<Work> works;
  for (std::uint32_t i = 0; i < graph.program_count(); ++i) {
    works.push_back(WorkOf(graph.program(i), graph.streams().size()));
  }
  GroupBounds bounds(graph, built, placement, costs);
  bounds.Learn(timeline);
  Time longest;
  std::vector<Time> busy;  // by stream
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    const Work& work = works[graph.program_of(rank)];
    busy = work.compute;
    for (const Use& use : work.uses) {
      const auto bound = bounds.Of(graph.communicator(rank, use.role), use.collective);
      if (!bound) return bound;
      busy[use.stream] += *bound * use.count;
    }
    for (const Time time : busy) longest = std::max(longest, time);
  }
  return longest;
}

}  // namespace trunkline
