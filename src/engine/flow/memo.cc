#include "engine/flow/memo.h"

#include <algorithm>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Bounds the memory of outcomes (8 bytes a word); past it they are forgotten and solved again.
constexpr std::size_t kMaxOutcomeWords = std::size_t{1} << 24;

// Whether every member's end depends on every member's begin: not where some have nothing to send.
bool Synchronises(const CollectiveSpec& spec) {
  if (!NeedsEveryMember(spec.primitive) || spec.primitive == Primitive::kAllToAllV) return false;
  return spec.bytes > Bytes(0) || spec.primitive == Primitive::kBarrier;
}

// How often each port of each program runs each collective.
class PortCounts {
 public:
  PortCounts(const FlowProblem& problem, const TaskGraph& graph) {
    for (std::uint32_t i = 0; i < problem.shapes.size(); ++i) {
      const ProgramShape& shape = problem.shapes[i];
      std::vector<std::map<std::uint32_t, std::uint64_t>> counts(shape.ports.size());
      const std::vector<Task>& tasks = graph.program(i).tasks;
      for (std::size_t task = 0; task < tasks.size(); ++task) {
        if (tasks[task].kind != TaskKind::kCollective) continue;
        ++counts[shape.slot[task]][tasks[task].collective];
      }
      first_.push_back(counts_.size());
      counts_.insert(counts_.end(), counts.begin(), counts.end());
    }
  }
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& of(std::uint32_t program,
                                                                 std::size_t port) const {
    return counts_[first_[program] + port];
  }

 private:
  std::vector<std::size_t> first_;  // by program
  std::vector<std::map<std::uint32_t, std::uint64_t>> counts_;
};

}  // namespace

std::size_t CollectiveMemo::KeyHash::operator()(const std::vector<std::int64_t>& key) const {
  std::uint64_t hash = 0;
  for (const std::int64_t word : key) hash = HashCombine(hash, static_cast<std::uint64_t>(word));
  return hash;
}

CollectiveMemo::CollectiveMemo(const FlowProblem& problem, const Folding& folding,
                               const CollectiveGroups& groups, const TaskGraph& graph,
                               const TransferModel& model, const std::vector<char>& withdrawn,
                               bool folds)
    : problem_(problem),
      folding_(folding),
      groups_(groups),
      model_(model),
      profile_of_(groups.size(), kNone),
      connections_of_(groups.size()),
      folds_(folds && folding.ranks.size() == problem.ranks.size()) {
  model_.occupancy = nullptr;
  if (!problem.rotates()) FindProfiles(graph, withdrawn);
}

void CollectiveMemo::FindProfiles(const TaskGraph& graph, const std::vector<char>& withdrawn) {
  const PortCounts counts(problem_, graph);
  std::vector<const std::map<std::uint32_t, std::uint64_t>*> runs(groups_.size());
  std::map<Pair, std::uint64_t> by_pattern;
  const auto pattern_of = [&](std::uint32_t member) {
    return problem_.communicators[groups_.members[member].seat.communicator].pattern;
  };
  // The first member's collectives are the group's.
  std::size_t port = 0;
  for (std::uint32_t i = 0; i < groups_.members.size(); ++i) {
    const CollectiveGroups::Member& member = groups_.members[i];
    port = i > 0 && groups_.members[i - 1].rank == member.rank ? port + 1 : 0;
    if (member.position != 0) continue;
    const RankId rank = folding_.ranks[member.rank];
    runs[member.group] = &counts.of(problem_.ranks[Index(rank)].program, port);
    for (const auto& [collective, count] : *runs[member.group]) {
      by_pattern[{pattern_of(i), collective}] += count;
    }
  }
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const std::vector<std::uint32_t>& members = groups_.members_of[group];
    const std::uint32_t first = pattern_of(members[0]);
    const bool pays = std::ranges::any_of(*runs[group], [&](const auto& run) {
      return by_pattern[{first, run.first}] > 1 ||
             (folds_ && IsWorthFolding(problem_.patterns[first], run.first));
    });
    const bool covered = std::ranges::all_of(members, [&](std::uint32_t member) {
      const Pattern& pattern = problem_.patterns[pattern_of(member)];
      return withdrawn[pattern_of(member)] == 0 && pattern.members() > 1 &&
             std::ranges::all_of(pattern.uses, [&](const Pattern::Use& use) {
               return Synchronises(graph.collectives()[use.collective].spec);
             });
    });
    if (!pays || !covered) continue;
    profile_of_[group] = ProfileOf(group);
    for (const auto& [collective, count] : *runs[group]) {
      planned_[{profile_of_[group], collective}] += count;
    }
  }
}

bool CollectiveMemo::Covers(std::uint32_t group, std::uint32_t collective) {
  const auto planned = planned_.find({profile_of_[group], collective});
  if (planned == planned_.end()) return false;
  return planned->second > 1 || FoldOf(profile_of_[group], collective) != nullptr;
}

const LoneCollective* CollectiveMemo::FoldOf(std::uint32_t profile, std::uint32_t collective) {
  if (!folds_) return nullptr;
  const auto [entry, is_new] = folded_.try_emplace({profile, collective});
  if (is_new) {
    // Where all ranks are simulated, a group is a communicator.
    const std::uint32_t communicator = profiles_[profile].seats.front().communicator;
    entry->second = FoldAlone(problem_, communicator, collective);
  }
  return entry->second ? &*entry->second : nullptr;
}

std::uint32_t CollectiveMemo::ProfileOf(std::uint32_t group) {
  Profile profile;
  std::vector<std::uint64_t> key;
  std::unordered_map<std::uint32_t, std::uint32_t> resource_names;  // in order of appearance
  std::unordered_map<std::uint32_t, std::uint32_t> names;           // of connections, likewise
  const auto add = [&](std::uint32_t index) {
    const auto next = static_cast<std::uint32_t>(profile.connections.size());
    const auto [name, is_new] = names.try_emplace(index, next);
    key.push_back(name->second);
    if (!is_new) return name->second;
    connections_of_[group].push_back(index);
    Connection connection = folding_.connections[index];
    const auto hops =
        std::span(folding_.hops).subspan(connection.first_hop, connection.binding_hops);
    connection.first_hop = static_cast<std::uint32_t>(profile.hops.size());
    key.push_back(connection.limit.units);
    key.push_back(static_cast<std::uint64_t>(connection.latency.ps()));
    key.push_back(hops.size());
    for (const FlowHop& hop : hops) {
      const auto next_resource = static_cast<std::uint32_t>(profile.capacities.size());
      const auto [resource, is_first] = resource_names.try_emplace(hop.resource, next_resource);
      if (is_first) profile.capacities.push_back(folding_.capacities[hop.resource]);
      profile.hops.push_back({resource->second, hop.weight});
      key.push_back(resource->second);
      key.push_back(hop.weight);
    }
    profile.connections.push_back(connection);
    return next;
  };
  for (const std::uint32_t member : groups_.members_of[group]) {
    const FlowProblem::Seat& seat = groups_.members[member].seat;
    const std::uint32_t pattern = problem_.communicators[seat.communicator].pattern;
    profile.seats.push_back(seat);
    profile.ports.push_back(member);
    key.push_back(pattern);
    key.push_back(seat.position);
    const std::size_t count = key.size();
    key.push_back(0);
    folding_.ForEachChannel(member, problem_.patterns[pattern].channels,
                            [&](std::uint32_t channel) { key.push_back(channel); });
    key[count] = key.size() - count;
    std::vector<std::uint32_t>& connection_of = profile.connection_of[seat.communicator];
    connection_of.resize(problem_.patterns[pattern].pairs.size(), kNone);
    const auto name = [&](std::uint32_t pair, std::uint32_t connection) {
      connection_of[pair] = add(connection);
    };
    ForEachOutbound(problem_, folding_, seat, name);
    ForEachInbound(problem_, folding_, seat, name);
  }
  for (const Rate rate : profile.capacities) {
    key.push_back(static_cast<std::uint64_t>(rate.bits_per_second()));
  }
  const auto next = static_cast<std::uint32_t>(profiles_.size());
  const auto [entry, is_new] = profile_index_.try_emplace(std::move(key), next);
  if (is_new) profiles_.push_back(std::move(profile));
  return entry->second;
}

CollectiveMemo::Outcome CollectiveMemo::Solve(std::uint32_t profile_index, std::uint32_t collective,
                                              std::span<const Time> begin) {
  const Time first = std::ranges::min(begin);
  const Time last = std::ranges::max(begin);
  if (first == last) {
    const LoneCollective* alone = FoldOf(profile_index, collective);
    if (alone != nullptr) return SolveFolded(*alone, profile_index, collective);
  }
  const Profile& profile = profiles_[profile_index];
  const auto members = static_cast<std::uint32_t>(begin.size());
  const auto pattern_of = [&](std::uint32_t member) -> const Pattern& {
    return problem_.patterns[problem_.communicators[profile.seats[member].communicator].pattern];
  };
  const std::uint32_t channels = pattern_of(0).schedule(collective).channels();
  TransferModel model = model_;
  model.connections = profile.connections;
  model.hops = profile.hops;
  model.capacities = profile.capacities;
  Interpreter interpreter(model);
  interpreter.AddPrograms(members * channels);
  std::size_t started = 0;
  for (std::uint32_t member = 0; member < members; ++member) {
    const FlowProblem::Seat& seat = profile.seats[member];
    folding_.ForEachChannel(profile.ports[member], channels, [&](std::uint32_t channel) {
      ++started;
      interpreter.Start(member * channels + channel,
                        {.schedule = &pattern_of(member).schedule(collective),
                         .pattern = &pattern_of(member),
                         .connection_of = profile.connection_of.at(seat.communicator),
                         .position = seat.position,
                         .channel = channel,
                         .first_program = member * channels},
                        begin[member] - first);
    });
  }
  Outcome outcome = Run(interpreter, started, channels, members, last - first);
  std::vector<Traffic>& traffic = traffic_[{profile_index, collective}];
  const auto moved = interpreter.traffic();
  traffic.assign(moved.begin(), moved.end());
  return outcome;
}

CollectiveMemo::Outcome CollectiveMemo::SolveFolded(const LoneCollective& alone,
                                                    std::uint32_t profile_index,
                                                    std::uint32_t collective) {
  const Pattern& pattern = alone.problem.patterns.front();
  const Schedule& schedule = pattern.schedule(collective);
  const Folding& folding = alone.folding;
  TransferModel model = model_;
  model.connections = folding.connections;
  model.hops = folding.hops;
  model.capacities = folding.capacities;
  Interpreter interpreter(model);
  const std::uint32_t channels = schedule.channels();
  const auto simulated = static_cast<std::uint32_t>(folding.ranks.size());
  interpreter.AddPrograms(simulated * channels);
  std::size_t started = 0;
  for (std::uint32_t rank = 0; rank < simulated; ++rank) {
    folding.ForEachChannel(rank, channels, [&](std::uint32_t channel) {
      ++started;
      interpreter.Start(rank * channels + channel,
                        {.schedule = &schedule,
                         .pattern = &pattern,
                         .connection_of = folding.connection_class,
                         .position = static_cast<Participant>(Index(folding.ranks[rank])),
                         .channel = channel,
                         .first_program = rank * channels},
                        Time());
    });
  }
  const Outcome of_simulated = Run(interpreter, started, channels, simulated, Time());
  Outcome outcome = of_simulated;
  outcome.end.clear();
  for (const std::uint32_t rank : folding.simulated_rank) {
    outcome.end.push_back(of_simulated.end[rank]);
  }
  const Profile& profile = profiles_[profile_index];
  const std::vector<std::uint32_t>& names = profile.connection_of.begin()->second;
  std::vector<Traffic>& traffic = traffic_[{profile_index, collective}];
  traffic.assign(profile.connections.size(), Traffic());
  for (std::size_t i = 0; i < alone.pairs.size(); ++i) {
    traffic[names[alone.pairs[i]]] = interpreter.traffic()[folding.connection_class[i]];
  }
  return outcome;
}

CollectiveMemo::Outcome CollectiveMemo::Run(Interpreter& interpreter, std::size_t started,
                                            std::uint32_t channels, std::uint32_t members,
                                            Time last) {
  do {
    interpreter.RunAll();
  } while (interpreter.Advance());
  Outcome outcome;
  outcome.end.assign(members, Time());
  for (const Interpreter::Finished& finished : interpreter.finished()) {
    Time& end = outcome.end[finished.program / channels];
    end = std::max(end, finished.end);
  }
  outcome.quiet = std::ranges::max(outcome.end);
  outcome.proven = interpreter.finished().size() == started && !interpreter.past_horizon() &&
                   std::ranges::min(outcome.end) >= last;
  solves_ += interpreter.solves();
  events_ += interpreter.events();
  for (const Traffic& moved : interpreter.traffic()) transfers_ += moved.transfers;
  return outcome;
}

const CollectiveMemo::Outcome& CollectiveMemo::Find(std::uint32_t group, std::uint32_t collective,
                                                    std::span<const Time> begin, bool& known) {
  const Time first = std::ranges::min(begin);
  key_.assign({profile_of_[group], collective});
  for (const Time time : begin) key_.push_back((time - first).ps());
  const auto found = outcomes_.find(key_);
  known = found != outcomes_.end();
  if (known) return found->second;
  outcome_words_ += 2 * key_.size();
  if (outcome_words_ > kMaxOutcomeWords) {
    outcomes_.clear();
    outcome_words_ = 2 * key_.size();
  }
  return outcomes_.emplace(key_, Solve(profile_of_[group], collective, begin)).first->second;
}

void CollectiveMemo::AddTraffic(std::span<Traffic> traffic) const {
  for (const auto& [key, times] : executions_) {
    const auto [group, collective] = key;
    const std::vector<Traffic>& once = traffic_.at({profile_of_[group], collective});
    for (std::size_t i = 0; i < once.size(); ++i) {
      Traffic& sum = traffic[connections_of_[group][i]];
      sum.transfers += once[i].transfers * times;
      sum.bytes += once[i].bytes * static_cast<std::int64_t>(times);
    }
  }
}

}  // namespace trunkline
