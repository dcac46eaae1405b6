#include "engine/flow/memo.h"

#include <algorithm>
#include <numeric>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kPeers = UINT32_MAX;

// Whether every member's end depends on every member's begin: not where some have nothing to send.
bool Synchronises(const CollectiveSpec& spec) {
  if (!NeedsEveryMember(spec.primitive) || spec.primitive == Primitive::kAllToAllV) return false;
  return spec.bytes > Bytes(0) || spec.primitive == Primitive::kBarrier;
}

// Who uses each binding resource: communicators, or kPeers.
std::vector<std::vector<std::uint32_t>> UsersOf(const FlowProblem& problem) {
  std::vector<std::vector<std::uint32_t>> users(problem.capacities.size());
  const auto mark = [&](const Connection& connection, std::uint32_t who) {
    for (const FlowHop& hop : problem.binding_hops_of(connection)) {
      std::vector<std::uint32_t>& of = users[hop.resource];
      if (std::ranges::find(of, who) == of.end()) of.push_back(who);
    }
  };
  std::vector<char> in_communicator(problem.connections.size(), 0);
  for (std::uint32_t c = 0; c < problem.communicators.size(); ++c) {
    const FlowProblem::Communicator& communicator = problem.communicators[c];
    const std::size_t pairs = problem.patterns[communicator.pattern].pairs.size();
    for (std::size_t i = 0; i < pairs; ++i) {
      mark(problem.connections[communicator.first_connection + i], c);
      in_communicator[communicator.first_connection + i] = 1;
    }
  }
  for (std::size_t i = 0; i < problem.connections.size(); ++i) {
    if (in_communicator[i] == 0) mark(problem.connections[i], kPeers);
  }
  return users;
}

// Whether the programs of all ranks in both communicators keep them from being busy together.
bool TakeTurns(const FlowProblem& problem, std::uint32_t a, std::uint32_t b) {
  if (b == kPeers) return false;
  return std::ranges::all_of(problem.communicators[a].members, [&](RankId member) {
    const FlowProblem::Rank& rank = problem.ranks[Index(member)];
    const ProgramShape& shape = problem.shapes[rank.program];
    const auto group = [&](std::uint32_t communicator) {
      for (std::size_t port = 0; port < shape.ports.size(); ++port) {
        if (problem.seats[rank.first_seat + port].communicator == communicator) {
          return shape.exclusive_group[port];
        }
      }
      return ProgramShape::kNoSlot;
    };
    return group(b) == ProgramShape::kNoSlot || group(a) == group(b);
  });
}

// How many collectives run on the communicators of each pattern.
std::vector<std::uint64_t> ExecutionsOf(const FlowProblem& problem) {
  std::vector<std::uint64_t> executions(problem.patterns.size(), 0);
  for (const FlowProblem::Rank& rank : problem.ranks) {
    const std::vector<std::uint64_t>& collectives = problem.shapes[rank.program].collectives;
    for (std::size_t port = 0; port < collectives.size(); ++port) {
      const FlowProblem::Seat& seat = problem.seats[rank.first_seat + port];
      if (seat.position != 0) continue;
      executions[problem.communicators[seat.communicator].pattern] += collectives[port];
    }
  }
  return executions;
}

}  // namespace

std::size_t CollectiveMemo::KeyHash::operator()(const std::vector<std::int64_t>& key) const {
  std::uint64_t hash = 0;
  for (const std::int64_t word : key) hash = HashCombine(hash, static_cast<std::uint64_t>(word));
  return hash;
}

CollectiveMemo::CollectiveMemo(const FlowProblem& problem, const Folding& folding,
                               const TaskGraph& graph, const TransferModel& model,
                               ResourceLedger& ledger, const std::vector<char>& withdrawn)
    : problem_(problem),
      folding_(folding),
      model_(model),
      ledger_(ledger),
      watched_(problem.communicators.size()),
      covered_(problem.communicators.size(), 0),
      profile_of_(problem.communicators.size(), 0) {
  model_.ledger = nullptr;
  FindCovered(graph, withdrawn);
}

void CollectiveMemo::FindCovered(const TaskGraph& graph, const std::vector<char>& withdrawn) {
  const auto users = UsersOf(problem_);
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> turns;
  const auto take_turns = [&](std::uint32_t a, std::uint32_t b) {
    const auto [entry, is_new] = turns.try_emplace({a, b}, false);
    if (is_new) entry->second = TakeTurns(problem_, a, b);
    return entry->second;
  };
  const std::vector<std::uint64_t> executions = ExecutionsOf(problem_);
  for (std::uint32_t c = 0; c < problem_.communicators.size(); ++c) {
    const FlowProblem::Communicator& communicator = problem_.communicators[c];
    const Pattern& pattern = problem_.patterns[communicator.pattern];
    if (withdrawn[communicator.pattern] != 0 || communicator.members.size() == 1) continue;
    if (executions[communicator.pattern] == 1) continue;  // nothing to reuse
    const bool synchronises = std::ranges::all_of(pattern.uses, [&](const Pattern::Use& use) {
      return Synchronises(graph.collectives()[use.collective].spec);
    });
    // A member that others stand for does not join.
    const bool simulated = std::ranges::all_of(communicator.members, [&](RankId member) {
      return folding_.ranks[folding_.simulated_rank[Index(member)]] == member;
    });
    if (!synchronises || !simulated) continue;
    const auto connections = std::span(problem_.connections)
                                 .subspan(communicator.first_connection, pattern.pairs.size());
    const bool alone = std::ranges::all_of(connections, [&](const Connection& connection) {
      return std::ranges::all_of(problem_.binding_hops_of(connection), [&](const FlowHop& hop) {
        return std::ranges::all_of(users[hop.resource], [&](std::uint32_t user) {
          return user == c || take_turns(c, user);
        });
      });
    });
    if (!alone) continue;
    covered_[c] = 1;
    profile_of_[c] = ProfileOf(communicator);
    Watch(c);
  }
}

void CollectiveMemo::Watch(std::uint32_t index) {
  const FlowProblem::Communicator& communicator = problem_.communicators[index];
  const std::size_t pairs = problem_.patterns[communicator.pattern].pairs.size();
  std::vector<std::uint32_t>& resources = watched_[index];
  for (std::size_t i = 0; i < pairs; ++i) {
    const Connection& connection =
        folding_.connections[folding_.connection_class[communicator.first_connection + i]];
    for (std::uint32_t hop = 0; hop < connection.binding_hops; ++hop) {
      resources.push_back(folding_.hops[connection.first_hop + hop].resource);
    }
  }
  std::ranges::sort(resources);
  const auto repeats = std::ranges::unique(resources);
  resources.erase(repeats.begin(), repeats.end());
  ledger_.entries.resize(folding_.capacities.size());
  for (const std::uint32_t resource : resources) ledger_.entries[resource].watched = true;
}

// Takes the communicator's resources from `first` to `quiet`, if nobody is on them.
bool CollectiveMemo::Claim(std::uint32_t communicator, Time first, Time quiet) {
  for (const std::uint32_t resource : watched_[communicator]) {
    ResourceLedger::Entry& entry = ledger_.entries[resource];
    if (entry.active > 0 || entry.last_end > first || entry.solved_until > first) return false;
    entry.solved_until = quiet;
    entry.pattern = problem_.communicators[communicator].pattern;
  }
  return true;
}

std::uint32_t CollectiveMemo::ProfileOf(const FlowProblem::Communicator& communicator) {
  const std::size_t pairs = problem_.patterns[communicator.pattern].pairs.size();
  Profile profile;
  std::vector<std::uint64_t> key{communicator.pattern};
  std::unordered_map<std::uint32_t, std::uint32_t> names;  // resources in order of appearance
  for (std::size_t i = 0; i < pairs; ++i) {
    Connection connection = problem_.connections[communicator.first_connection + i];
    const auto hops = problem_.binding_hops_of(connection);
    connection.first_hop = static_cast<std::uint32_t>(profile.hops.size());
    connection.hop_count = connection.binding_hops;
    key.push_back(connection.limit.units);
    key.push_back(static_cast<std::uint64_t>(connection.latency.ps()));
    key.push_back(hops.size());
    for (const FlowHop& hop : hops) {
      const auto next = static_cast<std::uint32_t>(profile.capacities.size());
      const auto [name, is_new] = names.try_emplace(hop.resource, next);
      if (is_new) profile.capacities.push_back(problem_.capacities[hop.resource]);
      profile.hops.push_back({name->second, hop.weight});
      key.push_back(name->second);
      key.push_back(hop.weight);
    }
    profile.connections.push_back(connection);
  }
  for (const Rate rate : profile.capacities) {
    key.push_back(static_cast<std::uint64_t>(rate.bits_per_second()));
  }
  const auto next = static_cast<std::uint32_t>(profiles_.size());
  const auto [entry, is_new] = profile_index_.try_emplace(std::move(key), next);
  if (is_new) profiles_.push_back(std::move(profile));
  return entry->second;
}

CollectiveMemo::Outcome CollectiveMemo::Solve(std::uint32_t communicator, std::uint32_t collective,
                                              std::span<const Time> begin) {
  const std::uint32_t pattern_index = problem_.communicators[communicator].pattern;
  const Pattern& pattern = problem_.patterns[pattern_index];
  const Profile& profile = profiles_[profile_of_[communicator]];
  const Schedule& schedule = pattern.schedule(collective);
  TransferModel model = model_;
  model.connections = profile.connections;
  model.hops = profile.hops;
  model.capacities = profile.capacities;
  Interpreter interpreter(model);
  const auto members = static_cast<std::uint32_t>(begin.size());
  const std::uint32_t channels = schedule.channels();
  interpreter.AddPrograms(members * channels);
  std::vector<std::uint32_t> own(pattern.pairs.size());
  std::iota(own.begin(), own.end(), 0U);
  const Time first = std::ranges::min(begin);
  const Time last = std::ranges::max(begin);
  for (std::uint32_t member = 0; member < members; ++member) {
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      interpreter.Start(member * channels + channel,
                        {.schedule = &schedule,
                         .pattern = &pattern,
                         .connection_of = own,
                         .position = member,
                         .channel = channel,
                         .first_program = member * channels},
                        begin[member] - first);
    }
  }
  do {
    while (interpreter.RunReady()) continue;
  } while (interpreter.Advance());
  Outcome outcome;
  outcome.end.assign(members, Time());
  for (const Interpreter::Finished& finished : interpreter.finished()) {
    Time& end = outcome.end[finished.program / channels];
    end = std::max(end, finished.end);
  }
  outcome.quiet = std::ranges::max(outcome.end);
  outcome.proven = interpreter.finished().size() == std::size_t{members} * channels &&
                   !interpreter.past_horizon() && std::ranges::min(outcome.end) >= last - first;
  solves_ += interpreter.solves();
  events_ += interpreter.events();
  std::vector<Traffic>& traffic = traffic_[{pattern_index, collective}];
  traffic.resize(pattern.pairs.size());
  for (std::uint32_t i = 0; i < traffic.size(); ++i) {
    traffic[i] = interpreter.traffic(i);
    transfers_ += traffic[i].transfers;
  }
  return outcome;
}

std::optional<std::vector<Time>> CollectiveMemo::Ends(std::uint32_t communicator,
                                                      std::uint32_t collective,
                                                      std::span<const Time> begin) {
  const Time first = std::ranges::min(begin);
  const std::uint32_t profile = profile_of_[communicator];
  key_.assign({profile, collective});
  for (const Time time : begin) key_.push_back((time - first).ps());
  auto found = outcomes_.find(key_);
  if (found == outcomes_.end()) {
    found = outcomes_.emplace(key_, Solve(communicator, collective, begin)).first;
  } else {
    ++reuses_;
  }
  const Outcome& outcome = found->second;
  if (!outcome.proven || outcome.quiet > Time::Horizon() - first) return std::nullopt;
  if (!Claim(communicator, first, first + outcome.quiet)) return std::nullopt;
  ++executions_[{communicator, collective}];
  std::vector<Time> ends;
  ends.reserve(begin.size());
  for (const Time end : outcome.end) ends.push_back(first + end);
  return ends;
}

void CollectiveMemo::AddTraffic(std::span<Traffic> traffic) const {
  for (const auto& [key, times] : executions_) {
    const FlowProblem::Communicator& communicator = problem_.communicators[key.first];
    const std::vector<Traffic>& once = traffic_.at({communicator.pattern, key.second});
    for (std::size_t i = 0; i < once.size(); ++i) {
      Traffic& sum = traffic[folding_.connection_class[communicator.first_connection + i]];
      sum.transfers += once[i].transfers * times;
      sum.bytes += once[i].bytes * static_cast<std::int64_t>(times);
    }
  }
}

}  // namespace trunkline
