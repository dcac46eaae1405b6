#include "engine/flow/group.h"

#include <algorithm>

#include "base/disjoint_sets.h"

namespace trunkline {

CollectiveGroups FindGroups(const FlowProblem& problem, const Folding& folding) {
  CollectiveGroups groups;
  for (std::uint32_t rank = 0; rank < folding.ranks.size(); ++rank) {
    const FlowProblem::Rank& whole = problem.ranks[Index(folding.ranks[rank])];
    const std::size_t ports = problem.shapes[whole.program].ports.size();
    for (std::size_t port = 0; port < ports; ++port) {
      groups.members.push_back({.rank = rank, .seat = problem.seats[whole.first_seat + port]});
    }
  }
  DisjointSets sets(groups.members.size());
  std::vector<std::uint32_t> user(folding.connections.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < groups.members.size(); ++i) {
    const auto unite = [&](std::uint32_t, std::uint32_t connection) {
      if (user[connection] == UINT32_MAX) user[connection] = i;
      sets.Unite(user[connection], i);
    };
    const FlowProblem::Seat& seat = groups.members[i].seat;
    const FlowProblem::Communicator& communicator = problem.communicators[seat.communicator];
    const Pattern& pattern = problem.patterns[communicator.pattern];
    if (!folding.folded && pattern.complete && !pattern.pairs.empty()) {
      // Everybody meets everybody: any one connection of the communicator stands for all.
      unite(0, communicator.first_connection);
      continue;
    }
    ForEachOutbound(problem, folding, seat, unite);
    ForEachInbound(problem, folding, seat, unite);
  }
  for (std::uint32_t i = 0; i < groups.members.size(); ++i) {
    CollectiveGroups::Member& member = groups.members[i];
    const std::uint32_t root = sets.Find(i);
    member.group = root == i ? groups.size() : groups.members[root].group;
    if (root == i) groups.members_of.emplace_back();
    member.position = static_cast<std::uint32_t>(groups.members_of[member.group].size());
    groups.members_of[member.group].push_back(i);
  }
  return groups;
}

}  // namespace trunkline
