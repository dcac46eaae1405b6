#include "engine/flow/gates.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "engine/flow/hop_sums.h"

namespace trunkline {
namespace {

// See UnfilledBehind.
class GateFlow {
 public:
  GateFlow(const FlowProblem& problem, std::span<const Uint128> capacities, std::vector<char> open)
      : problem_(problem),
        capacities_(capacities),
        sums_(problem),
        unfilled_(std::move(open)),
        is_closed_(problem.hops.size(), 0),
        through_(unfilled_.size(), 0),
        sum_(through_),
        most_(through_) {}

  void Add(std::uint32_t connection, std::uint32_t gate);
  // After the connections of each gate.
  void EndGate();
  [[nodiscard]] std::vector<char> TakeUnfilled() { return std::move(unfilled_); }

 private:
  // Whether none of its hops may be unfilled any more.
  bool IsClosed(const FlowPath& path);
  void AddHop(const FlowHop& hop, Uint128 limit);

  const FlowProblem& problem_;
  std::span<const Uint128> capacities_;
  HopSums sums_;
  FlowHop gate_;                 // of the connection added last, and …
  Uint128 let_in_ = 0;           // … what it lets through to a hop of its weight
  std::vector<char> unfilled_;   // by resource: so far
  std::vector<char> is_closed_;  // by first hop: known of those that paths share
  std::vector<Uint128> through_;
  std::vector<Uint128> sum_;   // through one gate, zero in between
  std::vector<Uint128> most_;  // as far as the gate lets through
  std::vector<std::uint32_t> used_;
};

bool GateFlow::IsClosed(const FlowPath& path) {
  if (unfilled_[path.last_hop.resource] != 0) return false;
  if (path.shared_hops() == 0) return true;
  char& closed = is_closed_[path.first_hop];
  if (closed == 0) {
    const auto is_open = [&](const FlowHop& hop) { return unfilled_[hop.resource] != 0; };
    closed = std::ranges::none_of(problem_.shared_hops_of(path), is_open) ? 1 : 0;
  }
  return closed != 0;
}

void GateFlow::Add(std::uint32_t connection, std::uint32_t gate) {
  const FlowPath& path = problem_.paths[connection];
  if (IsClosed(path)) return;
  const auto add = [&](const FlowHop& hop, Uint128 limit) { AddHop(hop, limit); };
  if (!sums_.Continues(path)) sums_.Flush(add);
  gate_ = path.last_hop.resource == gate
              ? path.last_hop
              : *std::ranges::find(problem_.shared_hops_of(path), gate, &FlowHop::resource);
  let_in_ = capacities_[gate];
  sums_.Add(path, problem_.connections[connection].limit.units, add);
}

void GateFlow::AddHop(const FlowHop& hop, Uint128 limit) {
  if (!unfilled_[hop.resource]) return;
  if (sum_[hop.resource] == 0) used_.push_back(hop.resource);
  sum_[hop.resource] += hop.weight * limit;
  const Uint128 most =
      hop.weight == gate_.weight ? let_in_ : (let_in_ / gate_.weight + 1) * hop.weight;
  most_[hop.resource] = std::max(most_[hop.resource], most);
}

void GateFlow::EndGate() {
  sums_.Flush([&](const FlowHop& hop, Uint128 limit) { AddHop(hop, limit); });
  for (const std::uint32_t resource : used_) {
    through_[resource] += std::min(sum_[resource], most_[resource]);
    if (through_[resource] > capacities_[resource]) unfilled_[resource] = 0;
    sum_[resource] = 0;
    most_[resource] = 0;
  }
  used_.clear();
}

// Unmarks most of what is filled, by a few of the connections that cross it. Of each gate it counts
// one connection, which lets through no more than the gate does, since it is not faster than any of
// its hops allows. Gates are counted in their order, so that none is counted twice; that begins
// anew after a first one that is out of order.
class QuickLook {
 public:
  QuickLook(const Gates& gates, const FlowProblem& problem, std::span<const Uint128> capacities)
      : gates_(gates), problem_(problem), capacities_(capacities), seen_(capacities.size()) {}

  void Unmark(std::vector<char>& open) {
    auto left = std::ranges::count_if(open, [](char is_open) { return is_open != 0; });
    // By row that is a model: whether all shared hops but the first are closed.
    std::vector<char> is_closed(problem_.models.size(), 0);
    problem_.ForEachRow([&](std::uint32_t begin, std::uint32_t end, std::uint32_t model) {
      if (left == 0) return;
      const auto hops = problem_.shared_hops_of(problem_.paths[begin]);
      if (model != FlowProblem::kUnused && is_closed[model] != 0 && !open[hops[0].resource]) return;
      bool closed = true;
      for (const FlowHop& hop : hops) {
        for (std::uint32_t i = begin; open[hop.resource] != 0 && i < end; ++i) {
          if (!Exceeds(hop, i)) continue;
          open[hop.resource] = 0;
          --left;
        }
        if (open[hop.resource] != 0) closed = false;
      }
      if (closed && model != FlowProblem::kUnused) is_closed[model] = 1;
    });
  }

 private:
  struct Seen {
    std::uint32_t next_gate = 0;
    std::uint32_t gates = 0;
    Uint128 through = 0;
  };

  // Whether what has been seen is more than the resource of the hop has, with this connection.
  bool Exceeds(const FlowHop& hop, std::uint32_t connection) {
    Seen& seen = seen_[hop.resource];
    const std::uint32_t gate = gates_.of[connection];
    if (gate < seen.next_gate) {
      if (seen.gates > 1 || gate + 1 == seen.next_gate) return false;
      seen = {};
    }
    seen.next_gate = gate + 1;
    ++seen.gates;
    seen.through += static_cast<Uint128>(hop.weight) * problem_.connections[connection].limit.units;
    return seen.through > capacities_[hop.resource];
  }

  const Gates& gates_;
  const FlowProblem& problem_;
  std::span<const Uint128> capacities_;
  std::vector<Seen> seen_;  // by resource
};

// Of a row that differs from its model in the first hop alone.
void RepeatGates(const FlowProblem& problem, std::uint32_t begin, std::uint32_t end,
                 std::uint32_t model, Gates& gates) {
  const std::uint32_t replaced = problem.first_hop_of_row(model).resource;
  const std::uint32_t own = problem.hops[problem.paths[begin].first_hop].resource;
  const std::uint32_t first = problem.rows[model];
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t gate = gates.of[first + (i - begin)];
    gates.of[i] = gate == replaced ? own : gate;
    if (gate == replaced) gates.is_gate[own] = 1;
  }
}

}  // namespace

void FindGates(const FlowProblem& problem, Gates& firsts, Gates& lasts) {
  const auto capacity = [&](const FlowHop& hop) {
    return static_cast<std::uint64_t>(problem.capacities[hop.resource].bits_per_second());
  };
  const auto compare = [&](const FlowHop& a, const FlowHop& b) {
    if (a.weight == b.weight) return capacity(a) <=> capacity(b);
    return static_cast<Uint128>(capacity(a)) * b.weight <=>
           static_cast<Uint128>(capacity(b)) * a.weight;
  };
  firsts.of.resize(problem.paths.size(), ProgramShape::kNoSlot);
  lasts.of.resize(problem.paths.size(), ProgramShape::kNoSlot);
  problem.ForEachRow([&](std::uint32_t begin, std::uint32_t end, std::uint32_t model) {
    if (model != FlowProblem::kUnused) {
      RepeatGates(problem, begin, end, model, firsts);
      RepeatGates(problem, begin, end, model, lasts);
      return;
    }
    const FlowHop* first_shared = nullptr;
    const FlowHop* last_shared = nullptr;
    for (const FlowHop& hop : problem.shared_hops_of(problem.paths[begin])) {
      const auto order =
          first_shared == nullptr ? std::strong_ordering::less : compare(hop, *first_shared);
      if (order > 0) continue;
      if (order < 0) first_shared = &hop;
      last_shared = &hop;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      const FlowPath& path = problem.paths[i];
      if (path.hop_count == 0) continue;
      const auto order = first_shared == nullptr ? std::strong_ordering::less
                                                 : compare(path.last_hop, *first_shared);
      const FlowHop& first = order < 0 ? path.last_hop : *first_shared;
      const FlowHop& last = order <= 0 ? path.last_hop : *last_shared;
      firsts.of[i] = first.resource;
      lasts.of[i] = last.resource;
      firsts.is_gate[first.resource] = 1;
      lasts.is_gate[last.resource] = 1;
    }
  });
}

std::vector<char> UnfilledBehind(const Gates& gates, const FlowProblem& problem,
                                 std::span<const Uint128> capacities, std::vector<char> open) {
  // In a rotation a connection stands for several, which a gate may hold back.
  if (!problem.rotates()) QuickLook(gates, problem, capacities).Unmark(open);
  if (std::ranges::count(open, 0) == std::ssize(open)) return open;
  // The connections by their gate; each list is filled from its end to its front.
  std::vector<std::uint32_t> first(capacities.size() + 1, 0);
  for (const std::uint32_t gate : gates.of) {
    if (gate != ProgramShape::kNoSlot) ++first[gate];
  }
  std::uint32_t total = 0;
  for (std::uint32_t& end : first) end = total += end;
  std::vector<std::uint32_t> behind(total);
  for (auto i = static_cast<std::uint32_t>(gates.of.size()); i-- > 0;) {
    if (gates.of[i] != ProgramShape::kNoSlot) behind[--first[gates.of[i]]] = i;
  }
  // Far apart where the last gate is meant.
  constexpr std::uint32_t kAhead = 8;
  GateFlow flow(problem, capacities, std::move(open));
  for (std::uint32_t gate = 0; gate < capacities.size(); ++gate) {
    for (std::uint32_t i = first[gate]; i < first[gate + 1]; ++i) {
      if (i + kAhead < total) __builtin_prefetch(&problem.paths[behind[i + kAhead]]);
      flow.Add(behind[i], gate);
    }
    flow.EndGate();
  }
  return flow.TakeUnfilled();
}

}  // namespace trunkline
