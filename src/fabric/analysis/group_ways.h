#pragma once

#include <cstdint>
#include <vector>

#include "fabric/analysis/dependency_graph.h"
#include "fabric/routing/group_routes.h"
#include "fabric/routing/policy.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// All that packets may do under a policy that goes from group to group, whatever queues it finds:
// the rules of shard_guiding.h, with every choice taken.
class GroupWays {
 public:
  // REQUIRES: all outlive the object.
  GroupWays(const Fabric& fabric, const GroupRoutes& groups, const RouterOptions& options,
            std::uint32_t lanes, DependencyGraph& graph);

  // Whether NICs or hosts are cabled to a switch.
  [[nodiscard]] bool has_ends(std::uint32_t at) const { return has_ends_[at]; }
  // What a packet may be in on its way to one switch, at most.
  [[nodiscard]] std::uint64_t states() const { return seen_.size(); }
  // Adds the dependencies of packets from everywhere to the ends of `home`.
  void Add(std::uint32_t home);

 private:
  enum class Phase : std::uint8_t { kOpen, kClosed, kDetour };  // may turn off; no more; has

  struct State {
    LinkId link{};
    std::uint32_t via = 0;  // kDetour
    std::uint8_t lane = 0;
    Phase phase = Phase::kOpen;
  };

  [[nodiscard]] GroupRoutes::Goal GoalOf(std::uint32_t via) const;
  void Enter(std::uint32_t at, std::uint32_t home);
  void Follow(const State& state, std::uint32_t home);
  void TurnOff(const State* before, std::uint32_t at, std::uint32_t home, std::uint32_t lane);
  void GoOn(const State* before, std::uint32_t at, const GroupRoutes::Goal& goal, State next);

  const Fabric& fabric_;
  const GroupRoutes& groups_;
  const RoutingPolicyTraits& policy_;
  bool via_router_;
  std::uint32_t lanes_;
  std::uint32_t goals_;
  DependencyGraph& graph_;
  std::vector<bool> has_ends_;  // by switch
  std::vector<bool> seen_;      // by state
  std::vector<State> open_;
};

}  // namespace trunkline
