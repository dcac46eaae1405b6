#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/cost.h"
#include "trunkline/fabric/deadlock.h"
#include "trunkline/fabric/route_counts.h"
#include "trunkline/fabric/weak_points.h"

// What `trunkline fabric` prints. Pure functions; texts end with a newline.
namespace trunkline {

// What is left of a path where all GPUs of both nodes send to their like and receive from it.
struct SharedPath {
  Rate each;                // an equal part of the narrowest link
  std::uint32_t flows = 0;  // that share it
  std::string from;         // its ends
  std::string to;
};

// The same path with the NIC reading GPU memory itself and with data staged in host memory.
struct PathComparison {
  std::string from;
  std::string to;
  RoutingPolicy routing = RoutingPolicy::kAdaptive;
  PathReport direct;
  std::optional<PathReport> staged;  // absent where it is the same, or the node has no CPU
  bool through_cpu = false;          // it is the same: there is no way past the CPU
  // Of nodes with several GPUs, where `staged` is there.
  std::optional<SharedPath> direct_shared = {};
  std::optional<SharedPath> staged_shared = {};
};

// TL1410 and TL1411, as TracePath.
[[nodiscard]] Result<PathComparison> ComparePaths(const Fabric& fabric, RoutingPolicy routing,
                                                  const std::string& from, const std::string& to,
                                                  const RoutingParameters& parameters = {});

// Whether a policy can deadlock, with its virtual channels and without; and how evenly its
// forwarding tables, where it has any, spread destinations.
struct RoutingProof {
  RoutingPolicy policy = RoutingPolicy::kAdaptive;
  std::vector<DeadlockProof> proofs;
  std::optional<std::vector<PortRoutes>> routes = {};
};

// Counts, oversubscription, bisection and hops at a glance; with `weak`, where the fabric is thin,
// too. `radix`: ports of its switches, where they are known; 0: not.
[[nodiscard]] std::string RenderFabricText(const BuiltFabric& built, const FabricAnalysis& analysis,
                                           const WeakPoints* weak = nullptr,
                                           const RoutingProof* routing = nullptr,
                                           std::uint32_t radix = 0);
// The keys of docs/report.md's fabric result: gpus, nodes, nics, switches, links, oversubscription,
// bisection, diameter_hops, mean_hops, cost (null without it). Hops count switches. With `weak`
// also bisection.cut, most_loaded, path_diversity, single_points and failures; with `routing`
// deadlock and routes.
[[nodiscard]] std::string RenderFabricJson(const BuiltFabric& built, const FabricAnalysis& analysis,
                                           const WeakPoints* weak = nullptr,
                                           const FabricCost* cost = nullptr,
                                           const RoutingProof* routing = nullptr);

// The bill of materials, line by line, and what it comes to.
[[nodiscard]] std::string RenderCostText(const BuiltFabric& built, const FabricCost& cost);

[[nodiscard]] std::string RenderPathText(const PathComparison& paths);
[[nodiscard]] std::string RenderPathJson(const PathComparison& paths);

}  // namespace trunkline
