#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/builders/builder.h"

// Networks that are given cable by cable, each switch with ends having the same number of them:
// dragonflies, tori, meshes, Slim Fly.
namespace trunkline {

struct SwitchGraph {
  using AddCable = std::function<void(std::uint32_t a, std::uint32_t b, Rate rate)>;

  std::string summary;
  std::uint32_t leaves = 1;  // switches with ends: numbers 0, 1, …
  std::uint32_t ends = 1;    // of each, seated in order
  std::uint32_t spines = 0;  // switches without, numbered on
  std::uint32_t groups = 0;  // that leaves and spines divide into, in order; 0: none
  double cables = 0;         // between switches
  Rate fastest;              // of them
  std::vector<std::uint32_t> torus;
  std::optional<Bisection> bisection;  // of the network whose seats are all taken
  bool partly_filled = false;          // it holds for as many nodes as there are, too
  std::function<void(const AddCable&)> cable;
};

// What a kind may know of its bisection, in bits per second. REQUIRES: an even number of ends.
//   Lower: links between switches carry uniform traffic of `rate_per_end`, so half of the rate of
//   half of the ends crosses every halving, unless it cuts off ends by their links of rate `link`
//   (all of one half if any: what a cut of few and of most of them takes lies between).
//   Upper: the capacity of some halving.
[[nodiscard]] Bisection BisectionOfUniformTraffic(double ends, double rate_per_end, double link,
                                                  double cut);
// Whether the first half of the leaves has whole nodes only, as many as the second.
[[nodiscard]] bool HalvesNodes(const SwitchGraph& graph, std::uint32_t nics);

// The capacity between the first half of the leaves and spines and the second. REQUIRES: an even
// number of leaves.
[[nodiscard]] double CutInOrder(const SwitchGraph& graph);

// TL1404, TL1405: no room for the nodes asked for.
[[nodiscard]] Result<NetworkPlan> PlanSwitchGraph(const FabricParameters& parameters,
                                                  SwitchGraph graph);

}  // namespace trunkline
