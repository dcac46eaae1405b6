#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fabric/builders/xgft.h"

// How leaves, spines and cores are counted from radix and oversubscription.
namespace trunkline {

struct ClosRequest {
  std::vector<std::uint32_t> radix;      // of leaf, spine, core; the last holds for those above it
  std::vector<double> oversubscription;  // of leaf, spine; 1 where absent
  // Cables that share a port: those of ends, between leaves and spines, between spines and cores; 1
  // where absent. A switch needs ports for the cables of the level below it and of that above it.
  std::vector<std::uint32_t> breakout;
  Rate link;
  Rate uplink;
  // Ends of a leaf; 0: as many as radix and oversubscription allow, in multiples of end_multiple.
  std::uint32_t leaf_ends = 0;
  std::uint32_t end_multiple = 1;
  std::uint32_t ports = 1;  // leaves that each end is cabled to
  std::uint32_t tiers = 0;  // 0: as few as suffice
};

struct ClosShape {
  std::uint32_t leaf_ends = 0;
  std::uint32_t leaf_uplinks = 0;
  std::uint32_t leaves = 0;
  std::vector<XgftLevel> levels;
};

// Sizes a network whose leaves of so many ends number `leaves_for(ends)`; nothing when the radix is
// too small.
//
// One tier: where one leaf has ports for all. Two: the smallest number of spines that has enough
// ports and divides the uplinks of a leaf, so that every leaf has as many cables to every spine
// (the rule behind NVIDIA's SuperPOD tables). Three: pods of as many leaves as a spine has ports
// downwards; the i-th spines of all pods share a group of cores, sized by the same rule.
[[nodiscard]] std::optional<ClosShape> ShapeClos(
    const ClosRequest& request, const std::function<std::uint32_t(std::uint32_t)>& leaves_for);

// Reads `radix`, `oversubscription`, `breakout`, `ports` and `tiers`.
[[nodiscard]] ClosRequest ReadClosRequest(const FabricParameters& parameters);

// TL1405 when `radix`, `oversubscription` or `breakout` name tiers that a network of so many does
// not have.
[[nodiscard]] Result<void> CheckTiersNamed(const FabricParameters& parameters,
                                           const ClosRequest& request, std::size_t tiers);

// Nodes side by side on the leaves of `planes` separate networks. REQUIRES: planes divides the
// NICs.
[[nodiscard]] Result<NetworkPlan> PlanClos(const FabricParameters& parameters,
                                           const ClosRequest& request, std::uint32_t planes);

// TL1403.
[[nodiscard]] std::unexpected<Diagnostics> RadixTooSmall(const FabricParameters& parameters,
                                                         const ClosRequest& request);

}  // namespace trunkline
