#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/flow/fold.h"
#include "engine/flow/fold_alone.h"
#include "engine/flow/group.h"
#include "engine/flow/interpreter.h"
#include "engine/flow/problem.h"

namespace trunkline {

// The course of collectives that nobody disturbs, each solved once.
//
// It depends on nothing but the schedule, limits, latencies, resources (up to their names) and when
// the members join relative to one another: these are the key, and two executions of one key are
// the same, shifted in time. Where all join at once, one is folded (fold_alone.h), though the run
// it is part of may not be. Covered are groups whose collectives make every member wait for every
// other, so that nobody needs the outcome before the last has joined.
class CollectiveMemo {
 public:
  // `withdrawn`: by pattern, whether the memo must leave it alone. `folds`: whether collectives may
  // be folded.
  CollectiveMemo(const FlowProblem& problem, const Folding& folding, const CollectiveGroups& groups,
                 const TaskGraph& graph, const TransferModel& model,
                 const std::vector<char>& withdrawn, bool folds);

  // Whether the run executes `collective` on groups like this more than once, or once and it folds,
  // all covered.
  [[nodiscard]] bool Covers(std::uint32_t group, std::uint32_t collective);

  struct Outcome {
    bool proven = false;    // no member ends before the last has joined
    std::vector<Time> end;  // by position, after the first begin
    Time quiet;             // the last of them
  };
  // REQUIRES: Covers(group, collective). The reference holds until the next call. `known`: whether
  // it was solved before.
  const Outcome& Find(std::uint32_t group, std::uint32_t collective, std::span<const Time> begin,
                      bool& known);

  // A collective of the group took its course.
  void Count(std::uint32_t group, std::uint32_t collective) { ++executions_[{group, collective}]; }
  // Adds what all that were counted moved to the traffic of each class of connections.
  void AddTraffic(std::span<Traffic> traffic) const;

  [[nodiscard]] std::uint64_t solves() const { return solves_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }  // of those solved

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // What groups of one kind have in common, under names of their own.
  struct Profile {
    std::vector<FlowProblem::Seat> seats;  // by position, of the first such group
    std::vector<std::uint32_t> ports;      // by position: index into CollectiveGroups::members
    // By communicator of the seats: the connection of each of its pattern's pairs.
    std::map<std::uint32_t, std::vector<std::uint32_t>> connection_of;
    std::vector<Connection> connections;
    std::vector<FlowHop> hops;
    std::vector<Rate> capacities;
  };
  struct KeyHash {
    std::size_t operator()(const std::vector<std::int64_t>& key) const;
  };
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  void FindProfiles(const TaskGraph& graph, const std::vector<char>& withdrawn);
  std::uint32_t ProfileOf(std::uint32_t group);
  Outcome Solve(std::uint32_t profile, std::uint32_t collective, std::span<const Time> begin);
  Outcome SolveFolded(const LoneCollective& alone, std::uint32_t profile, std::uint32_t collective);
  // What the programs of each member have ended, `started` of them; `last`: when the last begins.
  Outcome Run(Interpreter& interpreter, std::size_t started, std::uint32_t channels,
              std::uint32_t members, Time last);
  // The collective folded; nothing where it does not, or may not.
  const LoneCollective* FoldOf(std::uint32_t profile, std::uint32_t collective);

  const FlowProblem& problem_;
  const Folding& folding_;
  const CollectiveGroups& groups_;
  TransferModel model_;
  std::vector<std::uint32_t> profile_of_;                   // by group; kNone: not covered
  std::vector<std::vector<std::uint32_t>> connections_of_;  // by group: classes, as in its profile
  std::vector<Profile> profiles_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> profile_index_;
  std::map<Pair, std::uint64_t> planned_;  // by profile and collective: executions to come
  bool folds_;
  std::map<Pair, std::optional<LoneCollective>> folded_;  // by profile and collective, as asked for
  std::unordered_map<std::vector<std::int64_t>, Outcome, KeyHash> outcomes_;
  std::size_t outcome_words_ = 0;
  std::vector<std::int64_t> key_;                 // scratch
  std::map<Pair, std::vector<Traffic>> traffic_;  // by profile and collective, then connection
  std::map<Pair, std::uint64_t> executions_;      // by group and collective
  std::uint64_t solves_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t transfers_ = 0;
};

}  // namespace trunkline
