#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/progress.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/cost.h"
#include "trunkline/scenario/scenario.h"

// The same work on one fabric and another.
namespace trunkline {

struct TrialOptions {
  PriceList prices;
  bool collectives = true;
  Bytes size{std::int64_t{1} << 30};      // of each collective, as nccl-tests counts
  EngineKind engine = EngineKind::kFlow;  // of collectives
  const Scenario* step = nullptr;         // run on every fabric in place of its own; null: none
  ProgressSink* progress = nullptr;
  const StopToken* stop = nullptr;
};

// A time and where it comes from: "flow: ring, simple", "link load".
struct TrialTime {
  Time time;
  std::string how;
  bool bound = false;    // no run takes less
  bool sampled = false;  // an estimate of that bound, from some of the routes
};

struct FabricTrial {
  std::string name;
  std::shared_ptr<const BuiltFabric> built;
  RoutingPolicy routing = RoutingPolicy::kAdaptive;
  FabricAnalysis analysis;
  FabricCost cost;
  // Absent where they were not asked for or cannot run: `troubles` says why, and what the others
  // may miss.
  std::optional<TrialTime> all_reduce;
  std::optional<TrialTime> all_to_all;
  std::optional<TrialTime> step;
  std::vector<std::string> troubles;
  bool stopped = false;
};

// Builds nothing: `built` is analysed, priced and given the work, over all of its endpoints.
//
// AllReduce runs in the flow engine with the algorithm that the tuner chooses up to kFlowReduce
// endpoints, and with more in the analytic one. AllToAll runs in flows up to kFlowExchange; with
// more it takes what its most loaded link does (LinkLoadTime).
inline constexpr std::size_t kFlowReduce = 1024;
inline constexpr std::size_t kFlowExchange = 512;
[[nodiscard]] FabricTrial TryFabric(std::string name, std::shared_ptr<const BuiltFabric> built,
                                    RoutingPolicy routing, const TrialOptions& options);

}  // namespace trunkline
