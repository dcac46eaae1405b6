#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/flow/problem.h"
#include "engine/flow/rotation.h"
#include "engine/hop_class.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/engine/engine.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// Gives a problem its connections, with their paths and the resources that they cross.
class Connector {
 public:
  // REQUIRES: all of them outlive it.
  Connector(const EngineInput& input, const std::optional<Rotation>& rotation,
            FlowProblem& problem);

  // The pairs of all patterns.
  Result<void> ConnectCommunicators();
  // One more connection.
  Result<void> Connect(RankId source, RankId destination, const Manner& manner, std::uint64_t flow);

 private:
  static constexpr Rate kNoLimitYet = Rate::BitsPerSecond(-1);

  // A hop, and the rate that it leaves a flow alone.
  struct LoneHop {
    double weight = 0;
    std::int64_t payload = 0;  // 0: not known
    FlowHop hop;
    FlowRate rate;
  };
  // What connections have in common whose routes differ in the last hop.
  struct Row {
    Manner manner;
    std::int64_t payload = 0;
    HopClass hop_class = HopClass::kNetwork;
    Time step_latency;
    std::uint32_t first_hop = 0;
    FlowRate lone_but_for_last;
    Rate route_limit = kNoLimitYet;  // of the connection found last …
    FlowRate limit;                  // … by this and by what they have in common
    bool ended = false;              // another one came after it
  };
  // A member whose rows those at the same place repeat but for their first hop.
  struct Model {
    RankId source{};
    std::uint32_t first_row = 0;
    std::uint32_t end_row = 0;
    bool known = false;
  };
  using Pairs = std::span<const Schedule::Pair>;

  [[gnu::always_inline]] std::uint32_t IndexOf(ResourceId resource) {
    const std::vector<std::uint32_t>& known = problem_.resource_index;
    const bool is_known =
        Index(resource) < known.size() && known[Index(resource)] != FlowProblem::kUnused;
    return is_known ? known[Index(resource)] : Number(resource);
  }
  std::uint32_t Number(ResourceId resource);
  FlowHop HopOn(const Hop& hop, std::int64_t payload);
  const LoneHop& LoneHopOn(const Hop& hop, std::int64_t payload);
  void BeginRow(const Route& route, const Manner& manner, std::uint32_t shared_hops);
  void TurnHops(FlowPath& path);
  Result<void> ConnectMember(const FlowProblem::Communicator& communicator, Pairs own);
  [[nodiscard]] const Schedule::Pair& PairOf(const FlowProblem::Communicator& communicator,
                                             std::uint32_t connection) const {
    const Pattern& pattern = problem_.patterns[communicator.pattern];
    return pattern.pairs[connection - communicator.first_connection];
  }
  [[nodiscard]] bool IsBefore(const FlowProblem::Communicator& communicator, std::uint32_t row,
                              const Schedule::Pair& pair) const;
  [[nodiscard]] bool Repeats(const FlowProblem::Communicator& communicator, std::uint32_t row,
                             Pairs own) const;
  std::uint32_t RepeatRow(std::uint32_t row, RankId source, std::uint32_t resource);
  [[nodiscard]] DeviceId Endpoint(RankId rank) const { return input_.placement.endpoint(rank); }

  const EngineInput& input_;
  const Fabric& fabric_;
  const std::optional<Rotation>& rotation_;
  FlowProblem& problem_;
  RouteFinder routes_;
  Row row_;  // of the connection found last
  Model model_;
  std::vector<LoneHop> lone_hops_;  // by number of a resource
  // By number of a resource: how many images of a connection cross it for each hop on any of the
  // resources of that number.
  std::vector<std::uint64_t> crossings_;
  std::vector<std::uint32_t> place_;  // by number of a resource: its last hop in problem_.hops
};

}  // namespace trunkline
