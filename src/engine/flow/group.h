#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/fold.h"
#include "engine/flow/problem.h"

namespace trunkline {

// Who runs collectives with whom: the ports of the simulated ranks, and groups of them whose
// messages reach one another. A group is a communicator, or, where congruent ranks are folded, what
// is simulated for congruent communicators.
struct CollectiveGroups {
  struct Member {
    std::uint32_t rank = 0;      // simulated
    std::uint32_t group = 0;     // into `members_of`
    std::uint32_t position = 0;  // in its group
    FlowProblem::Seat seat;
  };
  std::vector<Member> members;  // by simulated rank, then by port of its program
  std::vector<std::vector<std::uint32_t>> members_of;  // by group: indices into `members`

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members_of.size()); }
};

[[nodiscard]] CollectiveGroups FindGroups(const FlowProblem& problem, const Folding& folding);

// Calls `visit(pair, connection)` for the pairs of a seat's pattern on which it puts, in order,
// with the class of the connection.
template <typename Visitor>
void ForEachOutbound(const FlowProblem& problem, const Folding& folding,
                     const FlowProblem::Seat& seat, Visitor visit) {
  const FlowProblem::Communicator& communicator = problem.communicators[seat.communicator];
  const Pattern& pattern = problem.patterns[communicator.pattern];
  for (std::uint32_t pair = pattern.first_outbound[seat.position];
       pair < pattern.first_outbound[seat.position + 1]; ++pair) {
    visit(pair, folding.connection_class[communicator.first_connection + pair]);
  }
}

// The same for the pairs on which it waits.
template <typename Visitor>
void ForEachInbound(const FlowProblem& problem, const Folding& folding,
                    const FlowProblem::Seat& seat, Visitor visit) {
  const FlowProblem::Communicator& communicator = problem.communicators[seat.communicator];
  const Pattern& pattern = problem.patterns[communicator.pattern];
  for (std::uint32_t i = pattern.first_inbound[seat.position];
       i < pattern.first_inbound[seat.position + 1]; ++i) {
    const std::uint32_t pair = pattern.inbound[i];
    visit(pair, folding.connection_class[communicator.first_connection + pair]);
  }
}

}  // namespace trunkline
