#include "engine/flow/contention.h"

#include <algorithm>

#include "engine/flow/demand.h"
#include "engine/flow/gates.h"
#include "engine/flow/rounds.h"
#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

// Resources in a row that the same connections cross with the same weights, of those that bind.
class SeriesFinder {
 public:
  SeriesFinder(const FlowProblem& problem, const std::vector<char>& binds)
      : binds_(binds), previous_(problem.capacities.size(), kNotMet), next_(previous_) {
    problem.ForEachRow([&](std::uint32_t begin, std::uint32_t end, std::uint32_t model) {
      // What follows the first two hops has met in the model.
      if (model != FlowProblem::kUnused && problem.paths[begin].shared_hops() > 1) {
        const auto hops = problem.shared_hops_of(problem.paths[begin]);
        Meet({.resource = kNoNeighbour}, hops[0]);
        Meet(hops[0], hops[1]);
        return;
      }
      FlowHop shared_end = {.resource = kNoNeighbour};
      for (const FlowHop& hop : problem.shared_hops_of(problem.paths[begin])) {
        Meet(shared_end, hop);
        shared_end = hop;
      }
      for (std::uint32_t i = begin; i < end; ++i) {
        const FlowPath& path = problem.paths[i];
        if (path.hop_count == 0) continue;
        Meet(shared_end, path.last_hop);
        if (binds_[path.last_hop.resource] != 0) Note(next_[path.last_hop.resource], kNoNeighbour);
      }
    });
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
    // Most have been found to have none.
    if (neighbour == kNoNeighbour) return;
    neighbour = neighbour == kNotMet || neighbour == met ? met : kNoNeighbour;
  }
  void Meet(const FlowHop& before, const FlowHop& hop) {
    const bool alike = before.weight == hop.weight && before.resource != kNoNeighbour;
    if (binds_[hop.resource] != 0) {
      Note(previous_[hop.resource], alike ? before.resource : kNoNeighbour);
    }
    if (before.resource == kNoNeighbour || binds_[before.resource] == 0) return;
    Note(next_[before.resource], alike ? hop.resource : kNoNeighbour);
  }

  const std::vector<char>& binds_;
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
  problem.ForEachRow([&](std::uint32_t begin, std::uint32_t end, std::uint32_t model) {
    if (model != FlowProblem::kUnused && binds[problem.first_hop_of_row(model).resource] == 0 &&
        binds[problem.hops[problem.paths[begin].first_hop].resource] == 0) {
      const auto alike = problem.connections.begin() + problem.rows[model];
      for (std::uint32_t i = begin; i < end; ++i) {
        problem.connections[i].first_hop = alike[i - begin].first_hop;
        problem.connections[i].binding_hops = alike[i - begin].binding_hops;
      }
      return;
    }
    hops.clear();
    for (const FlowHop& hop : problem.shared_hops_of(problem.paths[begin])) {
      if (binds[hop.resource] != 0) hops.push_back(hop);
    }
    const auto shared = static_cast<std::uint32_t>(hops.size());
    constexpr std::uint32_t kUnlisted = UINT32_MAX;
    std::uint32_t shared_list = kUnlisted;
    for (std::uint32_t i = begin; i < end; ++i) {
      const FlowPath& path = problem.paths[i];
      Connection& connection = problem.connections[i];
      if (path.hop_count > 0 && binds[path.last_hop.resource] != 0) {
        hops.push_back(path.last_hop);
        connection.binding_hops = shared + 1;
        connection.first_hop = lists.Add(hops);
        hops.pop_back();
      } else {
        if (shared_list == kUnlisted) shared_list = lists.Add(hops);
        connection.binding_hops = shared;
        connection.first_hop = shared_list;
      }
    }
  });
}

}  // namespace

void FindBindingHops(const TaskGraph& graph, Handshake handshake, FlowProblem& problem) {
  FindTurns(graph, problem.shapes);
  std::vector<Uint128> capacities;
  for (const Rate capacity : problem.capacities) capacities.push_back(FlowNetwork::Units(capacity));
  Gates firsts(capacities.size());
  Gates lasts(capacities.size());
  FindGates(problem, firsts, lasts);
  std::vector<char> binds = FindExceeded(problem, capacities);
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
  SeriesFinder(problem, std::vector(binds)).Unmark(capacities, binds);
  ListBindingHops(binds, problem);
}

}  // namespace trunkline
