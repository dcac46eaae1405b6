#include "engine/flow/contention.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <utility>

#include "engine/flow/rounds.h"
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
constexpr std::size_t kMostSlots = 512;

// Whether the program lets only one of two source slots be busy at a time: any two tasks of them
// are ordered. By slot and slot; empty: not known.
std::vector<char> FindTurns(const ProgramShape& shape, const Program& program) {
  const std::size_t slots = shape.ports.size() + shape.sends.size();
  const std::size_t tasks = program.tasks.size();
  if (slots > kMostSlots || tasks * slots > kMostOrders) return {};
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
  return ordered;
}

// For each resource: whether the sum over the ranks of what their slots ask for while they run,
// each in its most demanding use, and of those that take turns the most demanding one, is more than
// it has.
class DemandFinder {
 public:
  DemandFinder(const FlowProblem& problem, std::span<const Uint128> capacities)
      : problem_(problem),
        capacities_(capacities),
        exceeded_(capacities.size(), 0),
        total_(capacities.size(), 0),
        of_use_(total_) {}

  void AddRank(const FlowProblem::Rank& rank);
  [[nodiscard]] const std::vector<char>& exceeded() const { return exceeded_; }

 private:
  struct Demand {
    std::uint32_t resource = 0;
    std::uint32_t slot = 0;
    Uint128 amount = 0;
  };

  void Add(std::uint32_t connection);
  void AddHop(const FlowHop& hop, Uint128 limit);
  void AddShared();
  void AddPort(const FlowProblem::Rank& rank, std::uint32_t port);
  void EndUse(std::uint32_t slot);
  [[nodiscard]] Uint128 InTurn(const ProgramShape& shape, std::span<Demand> demands) const;

  const FlowProblem& problem_;
  std::span<const Uint128> capacities_;
  std::vector<char> exceeded_;       // by resource: nothing more need be added
  std::vector<Uint128> total_;       // by resource
  std::vector<Uint128> of_use_;      // by resource, zero between uses
  std::vector<std::uint32_t> used_;  // where it is not
  FlowPath path_;                    // added last …
  Uint128 limit_ = 0;                // … with others that share all hops but the last
  std::vector<Demand> demands_;      // of a rank …
  std::uint32_t uses_ = 0;           // … from so many uses
};

void DemandFinder::Add(std::uint32_t index) {
  const FlowPath& path = problem_.paths[index];
  const std::uint64_t limit = problem_.connections[index].limit.units;
  if (!path.SharesHopsWith(path_)) AddShared();
  path_ = path;
  if (path.hop_count == 0) return;
  limit_ += limit;
  AddHop(path.last_hop, limit);
}

void DemandFinder::AddHop(const FlowHop& hop, Uint128 limit) {
  if (exceeded_[hop.resource]) return;
  Uint128& sum = of_use_[hop.resource];
  if (sum == 0) used_.push_back(hop.resource);
  sum += hop.weight * limit;
}

void DemandFinder::AddShared() {
  if (limit_ == 0) return;
  for (const FlowHop& hop : problem_.shared_hops_of(path_)) AddHop(hop, limit_);
  limit_ = 0;
}

void DemandFinder::EndUse(std::uint32_t slot) {
  AddShared();
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
    for (std::uint32_t pair = pattern.first_outbound[seat.position];
         pair < pattern.first_outbound[seat.position + 1]; ++pair) {
      if (use.HasPair(pair)) Add(communicator.first_connection + pair);
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
    if (demands[first].slot == kNone) continue;
    sum += demands[first].amount;
    // The rest of its group takes its turns with all of the group.
    std::vector<std::uint32_t> group{demands[first].slot};
    for (Demand& other : demands.subspan(first + 1)) {
      if (other.slot == kNone) continue;
      const bool fits = std::ranges::all_of(group, [&](std::uint32_t slot) {
        return slot == other.slot || shape.takes_turns[slot * slots + other.slot] != 0;
      });
      if (!fits) continue;
      group.push_back(other.slot);
      other.slot = kNone;
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

// A connection's gate is the resource that holds it when it is alone, the first of them or the
// last: a rank's cable, say, before the trunk that it shares.
struct Gates {
  explicit Gates(std::size_t resources) : is_gate(resources, 0) {}

  std::vector<std::uint32_t> of;  // by connection; kNone: it has no hops
  std::vector<char> is_gate;      // by resource
};

void FindGates(const FlowProblem& problem, Gates& firsts, Gates& lasts) {
  const auto capacity = [&](const FlowHop& hop) {
    return static_cast<std::uint64_t>(problem.capacities[hop.resource].bits_per_second());
  };
  const auto compare = [&](const FlowHop& a, const FlowHop& b) {
    if (a.weight == b.weight) return capacity(a) <=> capacity(b);
    return static_cast<Uint128>(capacity(a)) * b.weight <=>
           static_cast<Uint128>(capacity(b)) * a.weight;
  };
  firsts.of.reserve(problem.paths.size());
  lasts.of.reserve(problem.paths.size());
  const FlowPath* before = nullptr;
  const FlowHop* first_shared = nullptr;
  const FlowHop* last_shared = nullptr;
  for (const FlowPath& path : problem.paths) {
    if (path.hop_count == 0) {
      firsts.of.push_back(kNone);
      lasts.of.push_back(kNone);
      continue;
    }
    const FlowHop* first = first_shared;
    const FlowHop* last = last_shared;
    const auto look = [&](const FlowHop& hop) {
      const auto order = first == nullptr ? std::strong_ordering::less : compare(hop, *first);
      if (order > 0) return;
      if (order < 0) first = &hop;
      last = &hop;
    };
    if (before == nullptr || !path.SharesHopsWith(*before)) {
      first = nullptr;
      for (const FlowHop& hop : problem.shared_hops_of(path)) look(hop);
      first_shared = first;
      last_shared = last;
    }
    before = &path;
    look(path.last_hop);
    firsts.of.push_back(first->resource);
    lasts.of.push_back(last->resource);
    firsts.is_gate[first->resource] = 1;
    lasts.is_gate[last->resource] = 1;
  }
}

// Of the resources that are `open`: those that cannot be filled by what comes through the gates of
// the connections that cross them.
class GateFlow {
 public:
  GateFlow(const FlowProblem& problem, std::span<const Uint128> capacities, std::vector<char> open)
      : problem_(problem),
        capacities_(capacities),
        unfilled_(std::move(open)),
        through_(unfilled_.size(), 0),
        sum_(through_),
        most_(through_) {}

  void Add(std::uint32_t connection, std::uint32_t gate);
  // After the connections of each gate.
  void EndGate();
  [[nodiscard]] std::vector<char> TakeUnfilled() { return std::move(unfilled_); }

 private:
  void AddShared();
  void AddHop(const FlowHop& hop, Uint128 limit);

  const FlowProblem& problem_;
  std::span<const Uint128> capacities_;
  FlowPath path_;               // added last …
  Uint128 limit_ = 0;           // … with others that share all hops but the last
  FlowHop gate_;                // of them, and …
  Uint128 let_in_ = 0;          // … what it lets through to a hop of its weight
  std::vector<char> unfilled_;  // by resource: so far
  std::vector<Uint128> through_;
  std::vector<Uint128> sum_;   // through one gate, zero in between
  std::vector<Uint128> most_;  // as far as the gate lets through
  std::vector<std::uint32_t> used_;
};

void GateFlow::Add(std::uint32_t connection, std::uint32_t gate) {
  const FlowPath& path = problem_.paths[connection];
  const std::uint64_t limit = problem_.connections[connection].limit.units;
  if (!path.SharesHopsWith(path_)) AddShared();
  path_ = path;
  limit_ += limit;
  const FlowHop& last = path.last_hop;
  gate_ = last.resource == gate
              ? last
              : *std::ranges::find(problem_.shared_hops_of(path), gate, &FlowHop::resource);
  let_in_ = capacities_[gate];
  AddHop(last, limit);
}

void GateFlow::AddHop(const FlowHop& hop, Uint128 limit) {
  if (!unfilled_[hop.resource]) return;
  if (sum_[hop.resource] == 0) used_.push_back(hop.resource);
  sum_[hop.resource] += hop.weight * limit;
  const Uint128 most =
      hop.weight == gate_.weight ? let_in_ : (let_in_ / gate_.weight + 1) * hop.weight;
  most_[hop.resource] = std::max(most_[hop.resource], most);
}

void GateFlow::AddShared() {
  if (limit_ == 0) return;
  for (const FlowHop& hop : problem_.shared_hops_of(path_)) AddHop(hop, limit_);
  limit_ = 0;
}

void GateFlow::EndGate() {
  AddShared();
  for (const std::uint32_t resource : used_) {
    through_[resource] += std::min(sum_[resource], most_[resource]);
    if (through_[resource] > capacities_[resource]) unfilled_[resource] = 0;
    sum_[resource] = 0;
    most_[resource] = 0;
  }
  used_.clear();
}

std::vector<char> UnfilledBehind(const Gates& gates, const FlowProblem& problem,
                                 std::span<const Uint128> capacities,
                                 const std::vector<char>& open) {
  // The connections by their gate; each list is filled from its end to its front.
  std::vector<std::uint32_t> first(capacities.size() + 1, 0);
  for (const std::uint32_t gate : gates.of) {
    if (gate != kNone) ++first[gate];
  }
  std::uint32_t total = 0;
  for (std::uint32_t& end : first) end = total += end;
  std::vector<std::uint32_t> behind(total);
  for (auto i = static_cast<std::uint32_t>(gates.of.size()); i-- > 0;) {
    if (gates.of[i] != kNone) behind[--first[gates.of[i]]] = i;
  }
  GateFlow flow(problem, capacities, open);
  for (std::uint32_t gate = 0; gate < capacities.size(); ++gate) {
    for (std::uint32_t i = first[gate]; i < first[gate + 1]; ++i) {
      flow.Add(behind[i], gate);
    }
    flow.EndGate();
  }
  return flow.TakeUnfilled();
}

// Resources in a row that the same connections cross with the same weights.
class SeriesFinder {
 public:
  explicit SeriesFinder(const FlowProblem& problem)
      : previous_(problem.capacities.size(), kNotMet), next_(previous_) {
    const FlowPath* path_before = nullptr;
    FlowHop shared_end;
    for (const FlowPath& path : problem.paths) {
      if (path.hop_count == 0) continue;
      // What several paths share need be looked at once.
      if (path_before == nullptr || !path.SharesHopsWith(*path_before)) {
        shared_end = {.resource = kNoNeighbour};
        for (const FlowHop& hop : problem.shared_hops_of(path)) {
          Meet(shared_end, hop);
          shared_end = hop;
        }
      }
      path_before = &path;
      Meet(shared_end, path.last_hop);
      Note(next_[path.last_hop.resource], kNoNeighbour);
    }
  }

  // Unmarks resources for which a neighbour that is marked stands.
  void Unmark(std::span<const Uint128> capacities, std::vector<char>& binds) const {
    for (std::uint32_t first = 0; first < next_.size(); ++first) {
      const std::uint32_t second = next_[first];
      if (second >= kNotMet || previous_[second] != first) continue;
      if (!binds[first] || !binds[second]) continue;
      binds[capacities[second] >= capacities[first] ? second : first] = 0;
    }
  }

 private:
  static constexpr std::uint32_t kNoNeighbour = UINT32_MAX;  // or not always the same
  static constexpr std::uint32_t kNotMet = UINT32_MAX - 1;

  static void Note(std::uint32_t& neighbour, std::uint32_t met) {
    neighbour = neighbour == kNotMet || neighbour == met ? met : kNoNeighbour;
  }
  void Meet(const FlowHop& before, const FlowHop& hop) {
    const bool alike = before.weight == hop.weight && before.resource != kNoNeighbour;
    Note(previous_[hop.resource], alike ? before.resource : kNoNeighbour);
    if (before.resource == kNoNeighbour) return;
    Note(next_[before.resource], alike ? hop.resource : kNoNeighbour);
  }

  std::vector<std::uint32_t> previous_;  // by resource
  std::vector<std::uint32_t> next_;
};

// Puts lists of hops in a row, most of those that are alike only once.
class HopLists {
 public:
  explicit HopLists(std::vector<FlowHop>& hops) : hops_(hops), lists_(kLists) {}

  // Where the list begins.
  std::uint32_t Add(std::span<const FlowHop> hops);

 private:
  struct List {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  static constexpr std::size_t kLists = 4096;  // that are remembered

  std::vector<FlowHop>& hops_;
  std::vector<List> lists_;
};

std::uint32_t HopLists::Add(std::span<const FlowHop> hops) {
  std::uint64_t hash = hops.size();
  for (const FlowHop& hop : hops) {
    hash = (hash ^ hop.resource ^ (hop.weight << 20)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  List& last = lists_[hash % lists_.size()];
  if (!std::ranges::equal(hops, std::span(hops_).subspan(last.first, last.count))) {
    last = {static_cast<std::uint32_t>(hops_.size()), static_cast<std::uint32_t>(hops.size())};
    hops_.insert(hops_.end(), hops.begin(), hops.end());
  }
  return last.first;
}

// Collects the hops on resources that bind.
void ListBindingHops(const std::vector<char>& binds, FlowProblem& problem) {
  HopLists lists(problem.binding_hops);
  std::vector<FlowHop> hops;
  const FlowPath* before = nullptr;
  std::size_t shared = 0;
  for (std::size_t i = 0; i < problem.paths.size(); ++i) {
    const FlowPath& path = problem.paths[i];
    const auto keep = [&](const FlowHop& hop) {
      if (binds[hop.resource] != 0) hops.push_back(hop);
    };
    const bool shares = before != nullptr && path.SharesHopsWith(*before);
    if (!shares) {
      hops.clear();
      for (const FlowHop& hop : problem.shared_hops_of(path)) keep(hop);
      shared = hops.size();
    }
    before = &path;
    const bool was_shared = shares && hops.size() == shared;
    hops.resize(shared);
    if (path.hop_count > 0) keep(path.last_hop);
    Connection& connection = problem.connections[i];
    connection.binding_hops = static_cast<std::uint32_t>(hops.size());
    connection.first_hop = was_shared && hops.size() == shared
                               ? problem.connections[i - 1].first_hop
                               : lists.Add(hops);
  }
}

}  // namespace

void FindBindingHops(const TaskGraph& graph, Handshake handshake, FlowProblem& problem) {
  for (std::uint32_t i = 0; i < problem.shapes.size(); ++i) {
    problem.shapes[i].takes_turns = FindTurns(problem.shapes[i], graph.program(i));
  }
  std::vector<Uint128> capacities;
  for (const Rate capacity : problem.capacities) capacities.push_back(FlowNetwork::Units(capacity));
  DemandFinder finder(problem, capacities);
  for (const FlowProblem::Rank& rank : problem.ranks) finder.AddRank(rank);
  Gates firsts(capacities.size());
  Gates lasts(capacities.size());
  FindGates(problem, firsts, lasts);
  std::vector<char> binds = finder.exceeded();
  std::vector<char> open(capacities.size());
  for (std::size_t i = 0; i < binds.size(); ++i) {
    // Gates are judged by themselves: two could not vouch for each other.
    open[i] = binds[i] != 0 && firsts.is_gate[i] == 0 && lasts.is_gate[i] == 0 ? 1 : 0;
  }
  const std::vector<char> unfilled = UnfilledBehind(firsts, problem, capacities, open);
  const std::vector<char> unfed = UnfilledBehind(lasts, problem, capacities, open);
  for (std::uint32_t i = 0; i < binds.size(); ++i) {
    if (unfilled[i] != 0 || unfed[i] != 0) binds[i] = 0;
  }
  if (handshake == Handshake::kRendezvous) {
    UnmarkUnfilledByRounds(problem, capacities, firsts.is_gate, lasts.is_gate, binds);
  }
  SeriesFinder(problem).Unmark(capacities, binds);
  ListBindingHops(binds, problem);
}

}  // namespace trunkline
