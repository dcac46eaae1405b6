#include "engine/flow/rounds.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace trunkline {
namespace {

// The most puts, and the most waits, of one round: of a program, or of all channels of a member.
struct RoundSize {
  std::uint64_t puts = 0;
  std::uint64_t waits = 0;
};

RoundSize LargestRound(const Schedule& schedule, Participant position, std::uint32_t channel) {
  RoundSize round;
  RoundSize largest;
  const auto end_round = [&] {
    largest.puts = std::max(largest.puts, round.puts);
    largest.waits = std::max(largest.waits, round.waits);
    round = {};
  };
  std::array<Op, 32> block;
  const std::uint64_t count = schedule.op_count(position, channel);
  for (std::uint64_t first = 0; first < count; first += block.size()) {
    const auto ops = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - first)));
    schedule.ops(position, channel, first, ops);
    for (const Op& op : ops) {
      const bool waits = op.kind == OpKind::kWait;
      const bool puts = op.kind == OpKind::kPut || op.kind == OpKind::kSignal;
      if (op.peer == position || !(waits || puts)) continue;
      if (puts && round.waits > 0) end_round();
      ++(waits ? round.waits : round.puts);
    }
  }
  end_round();
  return largest;
}

// Reads one program of each class.
class RoundReader {
 public:
  RoundSize Of(const Schedule& schedule, Participant position) {
    const auto member_class = schedule.rotates() ? 0 : schedule.program_class(position);
    if (!member_class) return Read(schedule, position);
    const auto [known, is_new] = known_.try_emplace({&schedule, *member_class});
    if (is_new) known->second = Read(schedule, position);
    return known->second;
  }

 private:
  static RoundSize Read(const Schedule& schedule, Participant position) {
    RoundSize sum;
    for (std::uint32_t channel = 0; channel < schedule.channels(); ++channel) {
      const RoundSize size = LargestRound(schedule, position, channel);
      sum.puts += size.puts;
      sum.waits += size.waits;
    }
    return sum;
  }

  std::map<std::pair<const Schedule*, std::uint32_t>, RoundSize> known_;
};

// For each resource: the sum over members of what their rounds can ask for at most.
class Peaks {
 public:
  // Of connections on one resource.
  struct Demand {
    Uint128 sum = 0;
    Uint128 most = 0;  // of one of them
  };

  Peaks(const FlowProblem& problem, std::vector<char> watched)
      : problem_(problem),
        watched_(std::move(watched)),
        shares_watched_(std::ranges::any_of(
            problem.hops, [&](const FlowHop& hop) { return watched_[hop.resource] != 0; })),
        is_unwatched_(problem.hops.size(), 0),
        watches_first_alone_(problem.models.size(), 0),
        of_use_(watched_.size()),
        peak_(watched_.size(), 0),
        total_(peak_) {}

  // A connection of the member's next use.
  [[gnu::always_inline]] void Add(std::uint32_t connection) {
    const FlowPath& path = problem_.paths[connection];
    const FlowRate limit = problem_.connections[connection].limit;
    if (shares_watched_) {
      if (!path.SharesHopsWith(path_)) {
        AddShared();
        FindWatched(path);
        path_ = path;
      } else if (limit != shared_limit_) {
        AddShared();
      }
      shared_limit_ = limit;
      ++sharing_;
    }
    if (path.hop_count > 0 && watched_[path.last_hop.resource]) {
      AddHop(path.last_hop, limit, 1);
    }
  }
  // Of the member's next use, the connections of a row.
  void AddRow(std::uint32_t row) {
    const std::uint32_t first = problem_.rows[row];
    const std::uint32_t end = problem_.rows[row + 1];
    const FlowPath& path = problem_.paths[first];
    if (path.hop_count == 0) return;
    const Connection* const connections = problem_.connections.data();
    if (shares_watched_) {
      const std::uint32_t model = problem_.models[row];
      auto hops = problem_.shared_hops_of(path);
      if (model != FlowProblem::kUnused && watches_first_alone_[model] != 0) hops = hops.first(1);
      std::uint32_t last = 0;  // that is watched
      for (std::uint32_t h = 0; h < hops.size(); ++h) {
        const FlowHop& hop = hops[h];
        if (!watched_[hop.resource]) continue;
        last = h;
        for (std::uint32_t i = first; i < end;) {
          const FlowRate limit = connections[i].limit;
          const std::uint32_t begin = i;
          while (++i < end && connections[i].limit == limit) continue;
          AddHop(hop, limit, i - begin);
        }
      }
      watches_first_alone_[row] = last == 0 ? 1 : 0;
    }
    for (std::uint32_t i = first; i < end; ++i) {
      const FlowHop& hop = problem_.paths[i].last_hop;
      if (watched_[hop.resource]) AddHop(hop, connections[i].limit, 1);
    }
  }
  // Of the member's next use, all that cross this hop; `limits` are what they add up to.
  void AddUse(const FlowHop& hop, const Demand& limits) {
    if (!watched_[hop.resource] || limits.sum == 0) return;
    of_use_[hop.resource] = {hop.weight * limits.sum, hop.weight * limits.most};
    used_.push_back(hop.resource);
  }
  // Whether any is watched that paths share with others.
  [[nodiscard]] bool shares_watched() const { return shares_watched_; }
  [[gnu::always_inline]] void FetchAhead(std::uint32_t connection) const {
    __builtin_prefetch(&problem_.paths[connection]);
    __builtin_prefetch(&problem_.connections[connection].limit);
  }
  // A round has so many messages at most.
  void EndUse(std::uint64_t messages) {
    AddShared();
    for (const std::uint32_t resource : used_) {
      const Demand demand = std::exchange(of_use_[resource], {});
      const Uint128 most =
          demand.sum / demand.most < messages ? demand.sum : demand.most * messages;
      if (peak_[resource] == 0) of_member_.push_back(resource);
      peak_[resource] = std::max(peak_[resource], most);
    }
    used_.clear();
  }
  void EndMember() {
    for (const std::uint32_t resource : of_member_) {
      total_[resource] += std::exchange(peak_[resource], 0);
    }
    of_member_.clear();
  }
  // Once all members have ended.
  [[nodiscard]] bool Fits(std::uint32_t resource, Uint128 capacity) const {
    return watched_[resource] != 0 && total_[resource] <= capacity;
  }

 private:
  void FindWatched(const FlowPath& path) {
    watched_hops_.clear();
    if (path.shared_hops() == 0 || is_unwatched_[path.first_hop] != 0) return;
    for (const FlowHop& hop : problem_.shared_hops_of(path)) {
      if (watched_[hop.resource]) watched_hops_.push_back(hop);
    }
    is_unwatched_[path.first_hop] = watched_hops_.empty() ? 1 : 0;
  }
  // Of the connections since it was called last, the hops that they share.
  [[gnu::always_inline]] void AddShared() {
    for (const FlowHop& hop : watched_hops_) AddHop(hop, shared_limit_, sharing_);
    sharing_ = 0;
  }
  void AddHop(const FlowHop& hop, FlowRate limit, std::uint32_t connections) {
    const Uint128 amount = static_cast<Uint128>(hop.weight) * limit.units;
    if (amount == 0 || connections == 0) return;
    Demand& demand = of_use_[hop.resource];
    if (demand.sum == 0) used_.push_back(hop.resource);
    demand.sum += amount * connections;
    demand.most = std::max(demand.most, amount);
  }

  const FlowProblem& problem_;
  std::vector<char> watched_;          // by resource
  bool shares_watched_;                // whether paths share hops on those
  FlowPath path_;                      // added last, but for its last hop
  std::vector<FlowHop> watched_hops_;  // of those that others share with it …
  std::uint32_t sharing_ = 0;          // … as many as these, of this limit
  FlowRate shared_limit_;
  std::vector<char> is_unwatched_;  // by first hop: known to be shared by unwatched hops
  // By row: known to share no watched hop but the first.
  std::vector<char> watches_first_alone_;
  std::vector<Demand> of_use_;  // by resource: of the current use …
  std::vector<std::uint32_t> used_;
  std::vector<Uint128> peak_;  // … of the current member
  std::vector<std::uint32_t> of_member_;
  std::vector<Uint128> total_;
};

constexpr std::size_t kAhead = 8;

// What a member puts, one collective after the other.
void AddPuts(const FlowProblem& problem, const FlowProblem::Communicator& communicator,
             Participant position, RoundReader& rounds, Peaks& put) {
  const Pattern& pattern = problem.patterns[communicator.pattern];
  const std::uint32_t first = pattern.first_outbound[position];
  const std::uint32_t end = pattern.first_outbound[position + 1];
  for (const Pattern::Use& use : pattern.uses) {
    if (use.pairs.empty()) {
      problem.ForEachRowOf(communicator.first_connection + first,
                           communicator.first_connection + end,
                           [&](std::uint32_t row) { put.AddRow(row); });
    } else {
      for (std::uint32_t pair = first; pair < end; ++pair) {
        if (use.HasPair(pair)) put.Add(communicator.first_connection + pair);
      }
    }
    put.EndUse(rounds.Of(*use.schedule, position).puts);
  }
  put.EndMember();
}

// What a member awaits.
void AddWaits(const FlowProblem& problem, const FlowProblem::Communicator& communicator,
              Participant position, RoundReader& rounds, Peaks& awaited) {
  const Pattern& pattern = problem.patterns[communicator.pattern];
  for (const Pattern::Use& use : pattern.uses) {
    // In a rotation, also what goes to its images from the first members.
    for (Participant image = position; image < pattern.members(); image += pattern.period) {
      const auto inbound =
          std::span(pattern.inbound)
              .subspan(pattern.first_inbound[image],
                       pattern.first_inbound[image + 1] - pattern.first_inbound[image]);
      for (std::size_t i = 0; i < inbound.size(); ++i) {
        // They are far apart.
        if (i + kAhead < inbound.size()) {
          awaited.FetchAhead(communicator.first_connection + inbound[i + kAhead]);
        }
        if (use.HasPair(inbound[i])) awaited.Add(communicator.first_connection + inbound[i]);
      }
    }
    awaited.EndUse(rounds.Of(*use.schedule, position).waits);
  }
  awaited.EndMember();
}

// The same for all members of a communicator at once, as their connections are stored, where all
// that come to one member end on one resource and cross no other that is watched. False: they do
// not, and nothing was done.
bool AddWaitsInOrder(const FlowProblem& problem, const FlowProblem::Communicator& communicator,
                     RoundReader& rounds, Peaks& awaited) {
  const Pattern& pattern = problem.patterns[communicator.pattern];
  if (awaited.shares_watched() || pattern.uses.size() != 1 || pattern.period != pattern.members()) {
    return false;
  }
  struct Last {
    FlowHop hop = {.resource = FlowProblem::kUnused};
    Uint128 sum = 0;  // of limits
    std::uint64_t most = 0;
  };
  std::vector<Last> lasts(pattern.members());
  const FlowPath* path = problem.paths.data() + communicator.first_connection;
  const Connection* connection = problem.connections.data() + communicator.first_connection;
  for (const Schedule::Pair& pair : pattern.pairs) {
    Last& last = lasts[pair.destination];
    if (path->hop_count > 0) {
      if (last.hop != path->last_hop) {
        if (last.hop.resource != FlowProblem::kUnused) return false;
        last.hop = path->last_hop;
      }
      last.sum += connection->limit.units;
      last.most = std::max(last.most, connection->limit.units);
    }
    ++path;
    ++connection;
  }
  for (Participant position = 0; position < pattern.members(); ++position) {
    const Last& last = lasts[position];
    if (last.hop.resource == FlowProblem::kUnused) continue;
    awaited.AddUse(last.hop, {last.sum, last.most});
    awaited.EndUse(rounds.Of(*pattern.uses[0].schedule, position).waits);
    awaited.EndMember();
  }
  return true;
}

}  // namespace

void UnmarkUnfilledByRounds(const FlowProblem& problem, std::span<const Uint128> capacities,
                            const std::vector<char>& near_source,
                            const std::vector<char>& near_destination, std::vector<char>& binds) {
  const bool sends = std::ranges::any_of(problem.shapes, [](const ProgramShape& shape) {
    return !shape.sends.empty() || !shape.receives.empty();
  });
  if (sends) return;
  const auto those = [&](const std::vector<char>& near) {
    std::vector<char> watched(binds);
    for (std::size_t i = 0; i < binds.size(); ++i) watched[i] &= near[i];
    return watched;
  };
  RoundReader rounds;
  Peaks put(problem, those(near_source));
  Peaks awaited(problem, those(near_destination));
  for (const FlowProblem::Communicator& communicator : problem.communicators) {
    const Pattern& pattern = problem.patterns[communicator.pattern];
    for (Participant position = 0; position < pattern.period; ++position) {
      AddPuts(problem, communicator, position, rounds, put);
    }
    if (AddWaitsInOrder(problem, communicator, rounds, awaited)) continue;
    for (Participant position = 0; position < pattern.period; ++position) {
      AddWaits(problem, communicator, position, rounds, awaited);
    }
  }
  for (std::uint32_t i = 0; i < binds.size(); ++i) {
    if (put.Fits(i, capacities[i]) || awaited.Fits(i, capacities[i])) binds[i] = 0;
  }
}

}  // namespace trunkline
