#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/analytic/fabric_costs.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// What the communication of one task graph costs in closed form, by its own numbers. A rank stands
// for all that run its program: its groups and peers are as slow as the slowest of theirs. Where
// pairs that sit alike fare alike, each way for a group to lie (FabricCuts::PatternOf) is looked at
// once.
class StepCosts {
 public:
  // `fabric`: of the input's router and transport.
  StepCosts(const EngineInput& input, FabricCosts& fabric);

  // Dense index of a rank's communicator, for the calls below.
  [[nodiscard]] Result<std::uint32_t> Group(RankId rank, std::uint32_t role);
  [[nodiscard]] std::uint32_t size(std::uint32_t group) const { return groups_[group].size; }
  // The time of a collective whose members start together.
  [[nodiscard]] Result<Time> Collective(std::uint32_t group, std::uint32_t collective);
  // Its lower bound.
  [[nodiscard]] Result<Time> Bound(std::uint32_t group, std::uint32_t collective) const;
  // How many times as long as the fastest of its kind the slowest group took, where they differed
  // most.
  [[nodiscard]] double most_unlike() const { return most_unlike_; }

  // A message of a rank by a peer role.
  [[nodiscard]] Result<FabricCosts::Message> Peer(RankId from, std::uint32_t role);

 private:
  struct GroupCosts {
    std::vector<CommunicatorId> ids;         // the rank's, then those that share links with it
    std::uint32_t size = 0;                  // of the rank's
    std::vector<FabricCosts::Group*> costs;  // of each pattern, or of all of one size
    std::vector<std::optional<Time>> times;  // by collective
  };

  // The groups of the ranks that run the rank's program, its own first.
  [[nodiscard]] std::vector<CommunicatorId> Congruent(RankId rank, std::uint32_t role) const;
  [[nodiscard]] Result<void> AddByPattern(const std::vector<CommunicatorId>& ids,
                                          GroupCosts& group);
  [[nodiscard]] Result<void> AddBySize(const std::vector<CommunicatorId>& ids, GroupCosts& group);
  // As SlowestByPattern, unless it is known of another graph of the same layout.
  [[nodiscard]] Result<FabricCosts::Message> PeerOfLayout(RankId from, std::uint32_t role);
  [[nodiscard]] Result<FabricCosts::Message> SlowestByPattern(RankId from, std::uint32_t role);
  // Those of all ranks that run a program of one of the members.
  [[nodiscard]] const CutLoad& LoadOf(const std::vector<RankId>& members);
  // All ranks of these programs communicate side by side.
  [[nodiscard]] const CutLoad& LoadOf(const std::set<std::uint32_t>& programs);
  [[nodiscard]] const CutLoad& LoadOf(std::uint32_t program);
  [[nodiscard]] std::vector<DeviceId> EndpointsOf(const std::vector<RankId>& ranks) const;
  [[nodiscard]] DeviceId endpoint(RankId rank) const { return input_.placement.endpoint(rank); }

  const EngineInput input_;
  FabricCosts& fabric_;
  std::uint64_t layout_ = 0;  // of the graph's ranks and where they are placed; 0: not known
  std::vector<std::vector<RankId>> ranks_of_program_;
  std::vector<const CutLoad*> load_of_program_;              // null: not asked for yet
  std::map<std::set<std::uint32_t>, const CutLoad*> loads_;  // by programs
  std::map<CommunicatorId, std::uint32_t> index_;
  std::vector<GroupCosts> groups_;
  double most_unlike_ = 1;
};

}  // namespace trunkline
