#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/problem.h"

namespace trunkline {

// Which part of a problem is simulated, and what each part of it stands for.
struct Folding {
  std::vector<RankId> ranks;                     // simulated, in order
  std::vector<std::uint32_t> ranks_represented;  // by simulated rank
  std::vector<std::uint32_t> simulated_rank;     // by rank: index into `ranks`
  // By port of the simulated ranks: the channels whose programs are simulated. Empty: all.
  std::vector<std::vector<std::uint32_t>> channels;
  std::vector<std::uint32_t> connection_class;         // by connection of the problem
  std::vector<std::uint32_t> connections_represented;  // by class
  // The classes. They have binding hops only, which name classes of resources, with the weights
  // that all members put on one resource.
  std::vector<Connection> connections;
  std::vector<FlowHop> hops;
  std::vector<Rate> capacities;
  bool folded = false;

  // Calls visit(channel) for those of `count` channels that `port` of the simulated ranks runs.
  template <typename Visitor>
  void ForEachChannel(std::size_t port, std::uint32_t count, Visitor visit) const {
    if (channels.empty() || channels[port].empty()) {
      for (std::uint32_t channel = 0; channel < count; ++channel) visit(channel);
      return;
    }
    for (const std::uint32_t channel : channels[port]) {
      if (channel < count) visit(channel);
    }
  }
};

// Folding looks at every connection several times: it is not worth it where each is used less
// often.
inline constexpr std::uint64_t kUsesWorthFolding = 8;

// Every rank by itself, or the first `period` of a rotation.
[[nodiscard]] Folding Unfolded(const FlowProblem& problem);

// One rank of each class of congruent ranks, and of each of its ports one bundle of channels
// of each class; nothing when no two ranks and no two channels of a rank are congruent.
//
// What runs is a rank's sequence of tasks and, for every port and channel, the program of a
// collective: it starts when its rank launches the collective, which ends when the programs of all
// channels have. Programs of a port that signal to one another, as at the root of a tree that on
// the way up to that on the way down, are a bundle (roles.h), called one program here. Take the
// coarsest partition of ranks, programs, connections and resources that is equitable: ranks of one
// class have the same tasks, for each of their sends and receives a connection of the same class
// and, for each port, equally many programs of each class; programs of one class are of ranks of
// one class and do the same, on channels that need not be the same, and each of their connections,
// named by what the program uses it for, is in the same class as the others' connection of that
// name; connections of one class have equal limits and latencies and cross binding resources of the
// same classes with equal weights; those of one class have equal capacities and carry equally many
// connections of each class with each weight.
//
// Then members of one class have equal histories. By induction over the events: suppose it holds up
// to some instant. What a rank does next depends on its tasks and on when its programs end; what a
// program does next on when its rank started it and on the signals that arrived on each of its
// named connections; signals depend on the connection and on what its source has put, equal by
// assumption. Whether a transfer is active, and how much of it is left, are equal within a class of
// connections, so every resource of a class sees the same multiset of (weight, limit, remaining
// bytes). The max-min fair rates are unique, hence invariant under exchanging congruent
// connections: progressive filling on one resource of each class, with the weights of a class added
// up, takes the same steps, in integers to the last digit. So the next event is the same throughout
// each class.
//
// A program has one outgoing connection of each name, so a class of connections has as many members
// as the classes of programs at its two ends, and the one that a represented program puts on is the
// class of the one that its peer's representative waits for.
//
// Channels make most of the symmetry of a server: the ring of channel c enters it at GPU c, so that
// GPU g + 1 does on channel c + 1 what GPU g does on channel c, and nothing on the same one.
[[nodiscard]] std::optional<Folding> Fold(const FlowProblem& problem);

}  // namespace trunkline
