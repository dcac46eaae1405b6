#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/problem.h"

namespace trunkline {

// Which part of a problem is simulated, and what each part of it stands for.
struct Folding {
  std::vector<RankId> ranks;                           // simulated, in order
  std::vector<std::uint32_t> ranks_represented;        // by simulated rank
  std::vector<std::uint32_t> simulated_rank;           // by rank: index into `ranks`
  std::vector<std::uint32_t> connection_class;         // by connection of the problem
  std::vector<std::uint32_t> connections_represented;  // by class
  // The classes. They have binding hops only, which name classes of resources, with the weights
  // that all members put on one resource.
  std::vector<Connection> connections;
  std::vector<FlowHop> hops;
  std::vector<Rate> capacities;
  bool folded = false;
};

// Every rank by itself, or the first `period` of a rotation.
[[nodiscard]] Folding Unfolded(const FlowProblem& problem);

// One rank of each class of congruent ranks; nothing when no two ranks are congruent.
//
// Take the coarsest partition of ranks, connections and resources that is equitable: ranks of one
// class run the same programs, and each of their connections, named by what the program uses it
// for, is in the same class as the others' connection of that name; connections of one class have
// equal limits and latencies and cross binding resources of the same classes with equal weights;
// those of one class have equal capacities and carry equally many connections of each class with
// each weight.
//
// Then members of one class have equal histories. By induction over the events: suppose it holds up
// to some instant. What a rank does next depends on its program and on the signals that arrived on
// each of its named connections; signals depend on the connection and on what its source has put,
// equal by assumption. Whether a transfer is active, and how much of it is left, are equal within a
// class of connections, so every resource of a class sees the same multiset of (weight, limit,
// remaining bytes). The max-min fair rates are unique, hence invariant under exchanging congruent
// connections: progressive filling on one resource of each class, with the weights of a class added
// up, takes the same steps, in integers to the last digit. So the next event is the same throughout
// each class.
//
// A rank has one outgoing connection of each name, so a class of connections has as many members as
// the classes of ranks at its two ends, and the one that a represented rank puts on is the class of
// the one that its peer's representative waits for.
[[nodiscard]] std::optional<Folding> Fold(const FlowProblem& problem);

}  // namespace trunkline
