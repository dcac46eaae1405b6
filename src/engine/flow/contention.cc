#include "engine/flow/contention.h"

#include <algorithm>
#include <numeric>

#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kNone = ProgramShape::kNoSlot;

// The slots through which a rank sends: its ports, then its sends.
std::uint32_t SourceSlot(const ProgramShape& shape, const Program& program, std::size_t task) {
  switch (program.tasks[task].kind) {
    case TaskKind::kCollective:
      return shape.slot[task];
    case TaskKind::kSend:
      return static_cast<std::uint32_t>(shape.ports.size()) + shape.slot[task];
    default:
      return kNone;
  }
}

// Finding the order of more tasks and slots than this takes too long; then any of the slots may be
// busy at once.
constexpr std::size_t kMostOrders = std::size_t{1} << 22;

// Puts source slots into groups of which only one is busy at a time: any two tasks of a group are
// ordered by the program. The group of each slot.
std::vector<std::uint32_t> ExclusiveGroups(const ProgramShape& shape, const Program& program) {
  const std::size_t slots = shape.ports.size() + shape.sends.size();
  const std::size_t tasks = program.tasks.size();
  if (std::max(tasks, slots) * slots > kMostOrders) {
    std::vector<std::uint32_t> alone(slots);
    std::iota(alone.begin(), alone.end(), 0U);
    return alone;
  }
  // The last task of each slot that task t comes after, plus one. The tasks of one slot are in a
  // row, so t comes after the earlier ones too.
  std::vector<std::uint32_t> after(tasks * slots, 0);
  std::vector<std::uint32_t> stream_predecessor(tasks, kNone);
  for (const std::vector<std::uint32_t>& stream : shape.streams) {
    for (std::size_t i = 1; i < stream.size(); ++i) stream_predecessor[stream[i]] = stream[i - 1];
  }
  std::vector<std::uint32_t> last(slots, 0);  // plus one
  std::vector<char> ordered(slots * slots, 1);
  for (std::size_t task = 0; task < tasks; ++task) {
    std::uint32_t* const mine = after.data() + task * slots;
    const auto come_after = [&](std::uint32_t earlier) {
      if (earlier == kNone) return;
      for (std::size_t s = 0; s < slots; ++s) {
        mine[s] = std::max(mine[s], after[earlier * slots + s]);
      }
      const std::uint32_t slot = SourceSlot(shape, program, earlier);
      if (slot != kNone) mine[slot] = std::max(mine[slot], earlier + 1);
    };
    come_after(stream_predecessor[task]);
    come_after(shape.role_predecessor[task]);
    for (const std::uint32_t dependency : program.dependencies_of(program.tasks[task])) {
      come_after(dependency);
    }
    const std::uint32_t slot = SourceSlot(shape, program, task);
    if (slot == kNone) continue;
    for (std::size_t other = 0; other < slots; ++other) {
      if (mine[other] == last[other]) continue;
      ordered[slot * slots + other] = 0;
      ordered[other * slots + slot] = 0;
    }
    last[slot] = static_cast<std::uint32_t>(task) + 1;
  }
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::uint32_t> group_of(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto fits = [&](const std::vector<std::size_t>& group) {
      return std::ranges::all_of(
          group, [&](std::size_t other) { return ordered[slot * slots + other] != 0; });
    };
    const auto group = std::ranges::find_if(groups, fits);
    group_of[slot] = static_cast<std::uint32_t>(group - groups.begin());
    if (group == groups.end()) groups.emplace_back();
    groups[group_of[slot]].push_back(slot);
  }
  return group_of;
}

// For each resource: the sum over the groups of every rank of what the most demanding use of any
// slot asks for while it runs.
class DemandFinder {
 public:
  explicit DemandFinder(const FlowProblem& problem)
      : problem_(problem),
        total_(problem.capacities.size(), 0),
        of_use_(total_),
        of_group_(total_) {}

  void AddRank(const FlowProblem::Rank& rank);
  [[nodiscard]] const std::vector<Uint128>& total() const { return total_; }

 private:
  void Add(std::uint32_t connection);
  void AddPort(const FlowProblem::Rank& rank, std::uint32_t port);
  void EndUse();
  void EndGroup();

  const FlowProblem& problem_;
  std::vector<Uint128> total_;
  // By resource, zero between uses and groups, and which are not zero.
  std::vector<Uint128> of_use_;
  std::vector<Uint128> of_group_;
  std::vector<std::uint32_t> used_;
  std::vector<std::uint32_t> grouped_;
};

void DemandFinder::Add(std::uint32_t index) {
  const Connection& connection = problem_.connections[index];
  for (const FlowHop& hop : problem_.hops_of(connection)) {
    Uint128& sum = of_use_[hop.resource];
    if (sum == 0) used_.push_back(hop.resource);
    sum += static_cast<Uint128>(hop.weight) * connection.limit.units;
  }
}

void DemandFinder::EndUse() {
  for (const std::uint32_t resource : used_) {
    Uint128& most = of_group_[resource];
    if (most == 0) grouped_.push_back(resource);
    most = std::max(most, of_use_[resource]);
    of_use_[resource] = 0;
  }
  used_.clear();
}

void DemandFinder::EndGroup() {
  for (const std::uint32_t resource : grouped_) {
    total_[resource] += of_group_[resource];
    of_group_[resource] = 0;
  }
  grouped_.clear();
}

void DemandFinder::AddPort(const FlowProblem::Rank& rank, std::uint32_t port) {
  const FlowProblem::Seat& seat = problem_.seats[rank.first_seat + port];
  const FlowProblem::Communicator& communicator = problem_.communicators[seat.communicator];
  const Pattern& pattern = problem_.patterns[communicator.pattern];
  for (const Pattern::Use& use : pattern.uses) {
    for (std::uint32_t pair = pattern.first_outbound[seat.position];
         pair < pattern.first_outbound[seat.position + 1]; ++pair) {
      if (use.HasPair(pair)) Add(communicator.first_connection + pair);
    }
    EndUse();
  }
}

void DemandFinder::AddRank(const FlowProblem::Rank& rank) {
  const ProgramShape& shape = problem_.shapes[rank.program];
  const std::vector<std::uint32_t>& group_of = shape.exclusive_group;
  const auto ports = static_cast<std::uint32_t>(shape.ports.size());
  std::vector<std::uint32_t> slots(group_of.size());
  std::iota(slots.begin(), slots.end(), 0U);
  std::ranges::stable_sort(slots, {}, [&](std::uint32_t slot) { return group_of[slot]; });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::uint32_t slot = slots[i];
    if (slot < ports) {
      AddPort(rank, slot);
    } else {
      Add(problem_.peer_connections[rank.first_send + slot - ports]);
      EndUse();
    }
    if (i + 1 == slots.size() || group_of[slots[i + 1]] != group_of[slot]) EndGroup();
  }
}

}  // namespace

void FindBindingHops(const TaskGraph& graph, FlowProblem& problem) {
  for (std::uint32_t i = 0; i < problem.shapes.size(); ++i) {
    problem.shapes[i].exclusive_group = ExclusiveGroups(problem.shapes[i], graph.program(i));
  }
  DemandFinder finder(problem);
  for (const FlowProblem::Rank& rank : problem.ranks) finder.AddRank(rank);
  for (Connection& connection : problem.connections) {
    const auto hops = std::span(problem.hops).subspan(connection.first_hop, connection.hop_count);
    const auto others = std::ranges::partition(hops, [&](const FlowHop& hop) {
      return finder.total()[hop.resource] > FlowNetwork::Units(problem.capacities[hop.resource]);
    });
    connection.binding_hops = static_cast<std::uint32_t>(hops.size() - others.size());
  }
}

}  // namespace trunkline
