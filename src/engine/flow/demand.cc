#include "engine/flow/demand.h"

#include <algorithm>
#include <functional>

#include "engine/flow/hop_sums.h"

namespace trunkline {
namespace {

// The slots through which a rank sends: its ports, then its sends.
std::uint32_t SourceSlot(const ProgramShape& shape, const Program& program, std::size_t task) {
  switch (program.tasks[task].kind) {
    case TaskKind::kCollective:
      return shape.slot[task];
    case TaskKind::kSend:
      return static_cast<std::uint32_t>(shape.ports.size()) + shape.slot[task];
    default:
      return ProgramShape::kNoSlot;
  }
}

// Finding the order of more tasks and slots than this takes too long; then any of the slots may be
// busy at once.
constexpr std::size_t kMostOrders = std::size_t{1} << 22;
constexpr std::size_t kMostSlots = 512;

// Whether the program lets only one of two source slots be busy at a time: any two tasks of them
// are ordered. By slot and slot; empty: not known.
std::vector<char> TurnsOf(const ProgramShape& shape, const Program& program) {
  const std::size_t slots = shape.ports.size() + shape.sends.size();
  const std::size_t tasks = program.tasks.size();
  if (slots > kMostSlots || tasks * slots > kMostOrders) return {};
  // The last task of each slot that task t comes after, plus one. The tasks of one slot are in a
  // row, so t comes after the earlier ones too.
  std::vector<std::uint32_t> after(tasks * slots, 0);
  std::vector<std::uint32_t> stream_predecessor(tasks, ProgramShape::kNoSlot);
  for (const std::vector<std::uint32_t>& stream : shape.streams) {
    for (std::size_t i = 1; i < stream.size(); ++i) stream_predecessor[stream[i]] = stream[i - 1];
  }
  std::vector<std::uint32_t> last(slots, 0);  // plus one
  std::vector<char> ordered(slots * slots, 1);
  for (std::size_t task = 0; task < tasks; ++task) {
    std::uint32_t* const mine = after.data() + task * slots;
    const auto come_after = [&](std::uint32_t earlier) {
      if (earlier == ProgramShape::kNoSlot) return;
      for (std::size_t s = 0; s < slots; ++s) {
        mine[s] = std::max(mine[s], after[earlier * slots + s]);
      }
      const std::uint32_t slot = SourceSlot(shape, program, earlier);
      if (slot != ProgramShape::kNoSlot) mine[slot] = std::max(mine[slot], earlier + 1);
    };
    come_after(stream_predecessor[task]);
    come_after(shape.role_predecessor[task]);
    for (const std::uint32_t dependency : program.dependencies_of(program.tasks[task])) {
      come_after(dependency);
    }
    const std::uint32_t slot = SourceSlot(shape, program, task);
    if (slot == ProgramShape::kNoSlot) continue;
    for (std::size_t other = 0; other < slots; ++other) {
      if (mine[other] == last[other]) continue;
      ordered[slot * slots + other] = 0;
      ordered[other * slots + slot] = 0;
    }
    last[slot] = static_cast<std::uint32_t>(task) + 1;
  }
  return ordered;
}

class DemandFinder {
 public:
  DemandFinder(const FlowProblem& problem, std::span<const Uint128> capacities)
      : problem_(problem),
        capacities_(capacities),
        exceeded_(capacities.size(), 0),
        total_(capacities.size(), 0),
        of_use_(total_),
        sums_(problem) {}

  void AddRank(const FlowProblem::Rank& rank);
  [[nodiscard]] const std::vector<char>& exceeded() const { return exceeded_; }

 private:
  struct Demand {
    std::uint32_t resource = 0;
    std::uint32_t slot = 0;
    Uint128 amount = 0;
  };

  void Add(std::uint32_t connection);
  void AddRow(std::uint32_t row);
  void AddHop(const FlowHop& hop, Uint128 limit);
  void AddPort(const FlowProblem::Rank& rank, std::uint32_t port);
  void EndUse(std::uint32_t slot);
  [[nodiscard]] Uint128 InTurn(const ProgramShape& shape, std::span<Demand> demands) const;

  const FlowProblem& problem_;
  std::span<const Uint128> capacities_;
  std::vector<char> exceeded_;       // by resource: nothing more need be added
  std::vector<Uint128> total_;       // by resource
  std::vector<Uint128> of_use_;      // by resource, zero between uses
  std::vector<std::uint32_t> used_;  // where it is not
  HopSums sums_;
  std::vector<Demand> demands_;  // of a rank …
  std::uint32_t uses_ = 0;       // … from so many uses
};

void DemandFinder::Add(std::uint32_t index) {
  sums_.Add(problem_.paths[index], problem_.connections[index].limit.units,
            [&](const FlowHop& hop, Uint128 limit) { AddHop(hop, limit); });
}

void DemandFinder::AddRow(std::uint32_t row) {
  const std::uint32_t first = problem_.rows[row];
  const std::uint32_t end = problem_.rows[row + 1];
  const FlowPath* const paths = problem_.paths.data();
  const Connection* const connections = problem_.connections.data();
  if (paths[first].hop_count == 0) return;
  Uint128 sum = 0;
  for (std::uint32_t i = first; i < end; ++i) {
    const std::uint64_t limit = connections[i].limit.units;
    sum += limit;
    AddHop(paths[i].last_hop, limit);
  }
  for (const FlowHop& hop : problem_.shared_hops_of(paths[first])) AddHop(hop, sum);
}

void DemandFinder::AddHop(const FlowHop& hop, Uint128 limit) {
  if (exceeded_[hop.resource]) return;
  Uint128& sum = of_use_[hop.resource];
  if (sum == 0) used_.push_back(hop.resource);
  sum += hop.weight * limit;
}

void DemandFinder::EndUse(std::uint32_t slot) {
  sums_.Flush([&](const FlowHop& hop, Uint128 limit) { AddHop(hop, limit); });
  ++uses_;
  for (const std::uint32_t resource : used_) {
    demands_.push_back({resource, slot, of_use_[resource]});
    of_use_[resource] = 0;
  }
  used_.clear();
}

void DemandFinder::AddPort(const FlowProblem::Rank& rank, std::uint32_t port) {
  const FlowProblem::Seat& seat = problem_.seats[rank.first_seat + port];
  const FlowProblem::Communicator& communicator = problem_.communicators[seat.communicator];
  const Pattern& pattern = problem_.patterns[communicator.pattern];
  for (const Pattern::Use& use : pattern.uses) {
    const std::uint32_t first = pattern.first_outbound[seat.position];
    const std::uint32_t end = pattern.first_outbound[seat.position + 1];
    if (use.pairs.empty()) {
      problem_.ForEachRowOf(communicator.first_connection + first,
                            communicator.first_connection + end,
                            [&](std::uint32_t row) { AddRow(row); });
    } else {
      for (std::uint32_t pair = first; pair < end; ++pair) {
        if (use.HasPair(pair)) Add(communicator.first_connection + pair);
      }
    }
    EndUse(port);
  }
}

// The most that each slot asks for, added up: where it is not known which take turns.
Uint128 AtOnce(auto demands) {
  std::ranges::sort(demands, [](const auto& a, const auto& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.amount > b.amount;
  });
  Uint128 sum = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (i == 0 || demands[i].slot != demands[i - 1].slot) sum += demands[i].amount;
  }
  return sum;
}

// What a rank asks of one resource: its slots are put into groups that take turns, most demanding
// first.
Uint128 DemandFinder::InTurn(const ProgramShape& shape, std::span<Demand> demands) const {
  if (demands.size() == 1) return demands[0].amount;
  if (shape.takes_turns.empty()) return AtOnce(demands);
  std::ranges::sort(demands, std::greater{}, &Demand::amount);
  const std::size_t slots = shape.ports.size() + shape.sends.size();
  Uint128 sum = 0;
  for (std::size_t first = 0; first < demands.size(); ++first) {
    if (demands[first].slot == ProgramShape::kNoSlot) continue;
    sum += demands[first].amount;
    // The rest of its group takes its turns with all of the group.
    std::vector<std::uint32_t> group{demands[first].slot};
    for (Demand& other : demands.subspan(first + 1)) {
      if (other.slot == ProgramShape::kNoSlot) continue;
      const bool fits = std::ranges::all_of(group, [&](std::uint32_t slot) {
        return slot == other.slot || shape.takes_turns[slot * slots + other.slot] != 0;
      });
      if (!fits) continue;
      group.push_back(other.slot);
      other.slot = ProgramShape::kNoSlot;
    }
  }
  return sum;
}

void DemandFinder::AddRank(const FlowProblem::Rank& rank) {
  const ProgramShape& shape = problem_.shapes[rank.program];
  const auto ports = static_cast<std::uint32_t>(shape.ports.size());
  demands_.clear();
  uses_ = 0;
  for (std::uint32_t port = 0; port < ports; ++port) AddPort(rank, port);
  for (std::uint32_t send = 0; send < shape.sends.size(); ++send) {
    Add(problem_.peer_connections[rank.first_send + send]);
    EndUse(ports + send);
  }
  // A single use asks for each resource once.
  if (uses_ > 1) std::ranges::sort(demands_, {}, &Demand::resource);
  for (auto first = demands_.begin(); first != demands_.end();) {
    const auto last = std::find_if(first, demands_.end(), [&](const Demand& demand) {
      return demand.resource != first->resource;
    });
    total_[first->resource] += InTurn(shape, {first, last});
    if (total_[first->resource] > capacities_[first->resource]) exceeded_[first->resource] = 1;
    first = last;
  }
}

}  // namespace

void FindTurns(const TaskGraph& graph, std::vector<ProgramShape>& shapes) {
  for (std::uint32_t i = 0; i < shapes.size(); ++i) {
    shapes[i].takes_turns = TurnsOf(shapes[i], graph.program(i));
  }
}

std::vector<char> FindExceeded(const FlowProblem& problem, std::span<const Uint128> capacities) {
  DemandFinder finder(problem, capacities);
  for (const FlowProblem::Rank& rank : problem.ranks) finder.AddRank(rank);
  return finder.exceeded();
}

}  // namespace trunkline
