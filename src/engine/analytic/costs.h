#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/analytic/group_model.h"
#include "engine/cuts.h"
#include "engine/saturating_time.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// What the communication of a task graph costs in closed form, found on demand and kept.
class StepCosts {
 public:
  // `cuts`: of the input's router.
  StepCosts(const EngineInput& input, const FabricCuts& cuts);

  // Dense index of a communicator, for the calls below.
  [[nodiscard]] Result<std::uint32_t> Group(CommunicatorId id);
  [[nodiscard]] const std::vector<RankId>& members(std::uint32_t group) const {
    return groups_[group].members;
  }
  // The time of a collective whose members start together.
  [[nodiscard]] Result<Time> Collective(std::uint32_t group, std::uint32_t collective);
  // Its lower bound.
  [[nodiscard]] Result<Time> Bound(std::uint32_t group, std::uint32_t collective);

  // A message by a peer role: how long it keeps the sender busy, and how long it then flies.
  struct Message {
    double per_byte = 0;
    Time overhead;
    Time latency;
    [[nodiscard]] Time Busy(Bytes bytes) const {
      return std::min(Time::Horizon(),
                      overhead + SaturatingTime(per_byte * static_cast<double>(bytes.count())));
    }
  };
  [[nodiscard]] Result<Message> Peer(RankId from, RankId to);

 private:
  struct GroupCosts {
    std::vector<RankId> members;
    GroupModel model;
    std::vector<std::optional<Time>> times;  // by collective
  };

  // All ranks of these programs communicate side by side.
  [[nodiscard]] const CutLoad& LoadOf(const std::set<std::uint32_t>& programs);
  [[nodiscard]] DeviceId endpoint(RankId rank) const { return input_.placement.endpoint(rank); }

  const EngineInput input_;
  const FabricCuts& cuts_;
  std::vector<std::vector<DeviceId>> endpoints_of_program_;
  std::map<std::set<std::uint32_t>, CutLoad> loads_;  // by programs
  std::map<CommunicatorId, std::uint32_t> index_;
  std::vector<GroupCosts> groups_;
};

}  // namespace trunkline
