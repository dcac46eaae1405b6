#include "scenario/step_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// The executions of one collective in a program.
struct Use {
  std::uint8_t stream = 0;
  std::size_t role = 0;  // index into Work::roles
  std::uint32_t collective = 0;
  std::int64_t count = 0;
};

// What a program keeps each of its streams busy with.
struct Work {
  std::vector<Time> compute;         // by stream
  std::vector<Use> uses;             // few: searched one by one
  std::vector<std::uint32_t> roles;  // of communicators
};

Work WorkOf(const Program& program, std::size_t streams) {
  Work work{.compute = std::vector<Time>(streams), .uses = {}, .roles = {}};
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) work.compute[task.stream] += task.duration;
    if (task.kind != TaskKind::kCollective) continue;
    auto use = std::ranges::find_if(work.uses, [&](const Use& known) {
      return known.collective == task.collective && work.roles[known.role] == task.role &&
             known.stream == task.stream;
    });
    if (use == work.uses.end()) {
      const auto role = std::ranges::find(work.roles, task.role);
      const auto number = static_cast<std::size_t>(role - work.roles.begin());
      if (role == work.roles.end()) work.roles.push_back(task.role);
      use = work.uses.insert(use, {task.stream, number, task.collective, 0});
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
      const std::uint32_t shape = ShapeAt(graph_.communicator(rank, summary.role));
      shapes_[shape].bounds[summary.collective] = summary.bound;
    }
  }

  // The number of the shape of a group.
  std::uint32_t ShapeAt(CommunicatorId communicator) {
    std::uint32_t& number = shape_of_[Index(communicator)];
    if (number == kUnknown) number = ShapeOf(communicator);
    return number;
  }

  Result<Time> Of(std::uint32_t number, std::uint32_t collective) {
    Shape& shape = shapes_[number];
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

  // Where groups that sit alike fare alike, one stands for all whose first members have one place
  // in their nodes and whose others lie at the same distances from them, in devices and in units.
  std::uint32_t ShapeOf(CommunicatorId communicator) {
    const std::vector<RankId> ranks = graph_.members(communicator);
    std::vector<DeviceId> members;
    members.reserve(ranks.size());
    for (const RankId rank : ranks) members.push_back(placement_.endpoint(rank));
    std::vector<std::uint64_t> key = {Index(communicator)};
    if (costs_.alike()) {
      key.front() = built_.fabric.device(members.front()).local;
      key.reserve(1 + 2 * members.size());
      const std::uint64_t first_unit = UnitOf(members.front());
      for (const DeviceId member : members) {
        key.push_back(std::uint64_t{Index(member)} - Index(members.front()));
        key.push_back(UnitOf(member) - first_unit);
      }
    }
    const auto number = static_cast<std::uint32_t>(shapes_.size());
    const auto [known, added] = numbers_.try_emplace(std::move(key), number);
    if (added) {
      shapes_.push_back({std::move(members), {}});
      shapes_.back().bounds.resize(graph_.collectives().size());
    }
    return known->second;
  }

  [[nodiscard]] std::uint64_t UnitOf(DeviceId id) const {
    const std::uint32_t node = built_.fabric.device(id).node;
    return node < built_.unit_of_node.size() ? built_.unit_of_node[node] : 0;
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
  std::vector<Time> busy;             // by stream
  std::vector<std::uint32_t> shapes;  // by role
  // By program: the shapes of the groups of ranks that have been looked at.
  std::vector<std::set<std::vector<std::uint32_t>>> seen(works.size());
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    const std::uint32_t program = graph.program_of(rank);
    const Work& work = works[program];
    shapes.clear();
    for (const std::uint32_t role : work.roles) {
      shapes.push_back(bounds.ShapeAt(graph.communicator(rank, role)));
    }
    if (!seen[program].insert(shapes).second) continue;
    busy = work.compute;
    for (const Use& use : work.uses) {
      const auto bound = bounds.Of(shapes[use.role], use.collective);
      if (!bound) return bound;
      busy[use.stream] += *bound * use.count;
    }
    for (const Time time : busy) longest = std::max(longest, time);
  }
  return longest;
}

}  // namespace trunkline
