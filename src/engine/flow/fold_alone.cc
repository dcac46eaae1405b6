#include "engine/flow/fold_alone.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/none.h"
#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

// The pairs that the collective uses, of those of `whole`: their numbers.
std::vector<std::uint32_t> PairsOf(const Pattern::Use& use, const Pattern& whole) {
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t pair = 0; pair < whole.pairs.size(); ++pair) {
    if (use.HasPair(pair)) pairs.push_back(pair);
  }
  return pairs;
}

Pattern PatternOf(const Pattern::Use& use, const Pattern& whole,
                  const std::vector<std::uint32_t>& pairs) {
  Pattern pattern;
  pattern.uses.push_back({use.collective, use.schedule, {}});
  for (const std::uint32_t pair : pairs) pattern.pairs.push_back(whole.pairs[pair]);
  pattern.channels = use.schedule->channels();
  pattern.period = whole.members();
  pattern.IndexPairs(whole.members());
  return pattern;
}

// By resource: whether all of these connections together could overload it. Those that others of
// the whole problem make binding are none here, and would only tell connections apart.
std::vector<char> CanBind(const FlowProblem& whole, std::uint32_t first,
                          const std::vector<std::uint32_t>& pairs) {
  std::vector<Uint128> demand(whole.capacities.size(), 0);
  for (const std::uint32_t pair : pairs) {
    const Connection& connection = whole.connections[first + pair];
    for (const FlowHop& hop : whole.binding_hops_of(connection)) {
      demand[hop.resource] += static_cast<Uint128>(hop.weight) * connection.limit.units;
    }
  }
  std::vector<char> binds;
  for (std::size_t i = 0; i < demand.size(); ++i) {
    binds.push_back(demand[i] > FlowNetwork::Units(whole.capacities[i]) ? 1 : 0);
  }
  return binds;
}

// The connections of these pairs, and the resources that they cross under names of their own.
void AddConnections(const FlowProblem& whole, std::uint32_t first,
                    const std::vector<std::uint32_t>& pairs, FlowProblem& alone) {
  const std::vector<char> binds = CanBind(whole, first, pairs);
  std::vector<std::uint32_t> names(whole.capacities.size(), kNone);
  alone.connections.reserve(pairs.size());
  for (const std::uint32_t pair : pairs) {
    Connection connection = whole.connections[first + pair];
    const auto hops = whole.binding_hops_of(connection);
    connection.first_hop = static_cast<std::uint32_t>(alone.binding_hops.size());
    for (const FlowHop& hop : hops) {
      if (binds[hop.resource] == 0) continue;
      std::uint32_t& name = names[hop.resource];
      if (name == kNone) {
        name = static_cast<std::uint32_t>(alone.capacities.size());
        alone.capacities.push_back(whole.capacities[hop.resource]);
      }
      alone.binding_hops.push_back({name, hop.weight});
    }
    connection.binding_hops =
        static_cast<std::uint32_t>(alone.binding_hops.size()) - connection.first_hop;
    alone.connections.push_back(connection);
  }
}

}  // namespace

bool IsWorthFolding(const Pattern& pattern, std::uint32_t collective) {
  const Schedule& schedule = pattern.schedule(collective);
  const std::uint64_t enough = kUsesWorthFolding * pattern.pairs.size();
  std::uint64_t ops = 0;
  for (Participant member = 0; member < pattern.members() && ops < enough; ++member) {
    for (std::uint32_t channel = 0; channel < schedule.channels(); ++channel) {
      ops += schedule.op_count(member, channel);
    }
  }
  return ops >= enough;
}

std::optional<LoneCollective> FoldAlone(const FlowProblem& problem, std::uint32_t communicator,
                                        std::uint32_t collective) {
  const FlowProblem::Communicator& whole = problem.communicators[communicator];
  const Pattern& pattern = problem.patterns[whole.pattern];
  if (!IsWorthFolding(pattern, collective)) return std::nullopt;
  const auto use =
      std::ranges::lower_bound(pattern.uses, collective, {}, &Pattern::Use::collective);

  LoneCollective alone;
  alone.pairs = PairsOf(*use, pattern);
  FlowProblem& made = alone.problem;
  made.patterns.push_back(PatternOf(*use, pattern, alone.pairs));
  made.communicators.push_back({.id = whole.id, .manner = whole.manner, .members = whole.members});
  ProgramShape shape;
  shape.ports.push_back({.manner = whole.manner});
  shape.collectives.push_back(1);
  shape.slot.push_back(0);
  made.shapes.push_back(std::move(shape));
  for (Participant member = 0; member < pattern.members(); ++member) {
    made.ranks.push_back({.first_seat = member});
    made.seats.push_back({.communicator = 0, .position = member});
  }
  made.period = pattern.members();
  AddConnections(problem, whole.first_connection, alone.pairs, made);

  auto folding = Fold(made);
  if (!folding) return std::nullopt;
  alone.folding = *std::move(folding);
  return alone;
}

}  // namespace trunkline
