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
  Peaks(const FlowProblem& problem, std::vector<char> watched)
      : problem_(problem),
        watched_(std::move(watched)),
        shares_watched_(std::ranges::any_of(
            problem.hops, [&](const FlowHop& hop) { return watched_[hop.resource] != 0; })),
        is_unwatched_(problem.hops.size(), 0),
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
  struct Demand {
    Uint128 sum = 0;   // of the connections
    Uint128 most = 0;  // of one of them
  };

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
  std::vector<Demand> of_use_;      // by resource: of the current use …
  std::vector<std::uint32_t> used_;
  std::vector<Uint128> peak_;  // … of the current member
  std::vector<std::uint32_t> of_member_;
  std::vector<Uint128> total_;
};

constexpr std::size_t kAhead = 8;

// What a member puts and awaits, one collective after the other.
void AddMember(const FlowProblem& problem, const FlowProblem::Communicator& communicator,
               Participant position, RoundReader& rounds, Peaks& put, Peaks& awaited) {
  const Pattern& pattern = problem.patterns[communicator.pattern];
  for (const Pattern::Use& use : pattern.uses) {
    const RoundSize round = rounds.Of(*use.schedule, position);
    for (std::uint32_t pair = pattern.first_outbound[position];
         pair < pattern.first_outbound[position + 1]; ++pair) {
      if (use.HasPair(pair)) put.Add(communicator.first_connection + pair);
    }
    put.EndUse(round.puts);
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
    awaited.EndUse(round.waits);
  }
  put.EndMember();
  awaited.EndMember();
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
      AddMember(problem, communicator, position, rounds, put, awaited);
    }
  }
  for (std::uint32_t i = 0; i < binds.size(); ++i) {
    if (put.Fits(i, capacities[i]) || awaited.Fits(i, capacities[i])) binds[i] = 0;
  }
}

}  // namespace trunkline
