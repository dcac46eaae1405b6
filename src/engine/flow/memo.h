#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/flow/fold.h"
#include "engine/flow/interpreter.h"
#include "engine/flow/problem.h"

namespace trunkline {

// Collectives whose outcome follows from when their members join, each solved once.
//
// It covers a communicator when nobody else should be busy on the binding resources that its
// connections cross, and when its primitives make every member wait for every other. Then nothing
// outside can change the course of a collective, nobody needs its outcome before the last member
// has joined, and two executions are the same, shifted in time, when schedule, limits, latencies,
// resources (up to their names) and the members' relative join times are: these are the key.
//
// What the programs only suggest is checked as it happens: that no member ends before the last has
// joined; that no other transfer is on a binding resource from the first join to the last end (the
// ledger); that one collective of the communicator is over before the next begins. A breach
// withdraws the proof for that pattern.
class CollectiveMemo {
 public:
  CollectiveMemo(const FlowProblem& problem, const Folding& folding, const TaskGraph& graph,
                 const TransferModel& model, ResourceLedger& ledger,
                 const std::vector<char>& withdrawn);

  [[nodiscard]] bool Covers(std::uint32_t communicator) const {
    return covered_[communicator] != 0;
  }

  // When each member ends, by position, given when each begins; nothing when the proof fails.
  std::optional<std::vector<Time>> Ends(std::uint32_t communicator, std::uint32_t collective,
                                        std::span<const Time> begin);

  [[nodiscard]] std::uint64_t reuses() const { return reuses_; }
  [[nodiscard]] std::uint64_t solves() const { return solves_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }  // of those solved

  // Adds what covered collectives moved to the traffic of each class of connections.
  void AddTraffic(std::span<Traffic> traffic) const;

 private:
  // What tells communicators of one pattern apart.
  struct Profile {
    std::vector<Connection> connections;
    std::vector<FlowHop> hops;
    std::vector<Rate> capacities;
  };
  struct Outcome {
    bool proven = false;
    std::vector<Time> end;  // after the first begin
    Time quiet;             // the last of them
  };
  struct KeyHash {
    std::size_t operator()(const std::vector<std::int64_t>& key) const;
  };

  void FindCovered(const TaskGraph& graph, const std::vector<char>& withdrawn);
  void Watch(std::uint32_t communicator);
  bool Claim(std::uint32_t communicator, Time first, Time quiet);
  std::uint32_t ProfileOf(const FlowProblem::Communicator& communicator);
  Outcome Solve(std::uint32_t communicator, std::uint32_t collective, std::span<const Time> begin);

  const FlowProblem& problem_;
  const Folding& folding_;
  TransferModel model_;
  ResourceLedger& ledger_;
  std::vector<std::vector<std::uint32_t>> watched_;  // by communicator: its binding resources
  std::vector<char> covered_;                        // by communicator
  std::vector<std::uint32_t> profile_of_;            // by communicator
  std::vector<Profile> profiles_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> profile_index_;
  std::unordered_map<std::vector<std::int64_t>, Outcome, KeyHash> outcomes_;
  std::vector<std::int64_t> key_;  // scratch
  // By pattern and collective: what one execution moves on each pair; by communicator and
  // collective: how often it ran.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Traffic>> traffic_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> executions_;
  std::uint64_t reuses_ = 0;
  std::uint64_t solves_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t transfers_ = 0;
};

}  // namespace trunkline
