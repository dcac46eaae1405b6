#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "base/plural.h"
#include "fabric/builders/switch_graph.h"

namespace trunkline {
namespace {

constexpr std::size_t kMaxDimensions = 6;

// A side of two has one cable between its switches, not two.
double CablesAlong(std::uint32_t side, double switches) {
  return side == 1 ? 0 : side == 2 ? switches / 2 : switches;
}

void Cable(const std::vector<std::uint32_t>& sides, Rate rate, const SwitchGraph::AddCable& cable) {
  const std::uint32_t switches =
      std::accumulate(sides.begin(), sides.end(), 1U, std::multiplies<>());
  for (std::uint32_t s = 0; s < switches; ++s) {
    std::uint32_t stride = 1;
    for (const std::uint32_t side : sides) {
      const std::uint32_t at = s / stride % side;
      const std::uint32_t next = at + 1 < side ? s + stride : s - at * stride;
      if (side > 2 || at + 1 < side) cable(s, next, rate);
      stride *= side;
    }
  }
}

// Cables between the first `count` switches, in the order of their numbers, and the others; `sides`
// ascend. REQUIRES: count is at most half of the switches.
double CutOfFirst(std::span<const std::uint32_t> sides, std::uint64_t count) {
  if (sides.empty() || count == 0) return 0;
  std::uint64_t slab = 1;
  for (const std::uint32_t side : sides.first(sides.size() - 1)) slab *= side;
  const std::uint64_t rest = count % slab;
  const double ways = sides.back() == 1 ? 0 : sides.back() == 2 ? 1 : 2;
  return ways * static_cast<double>(count < slab ? count : slab) +
         CutOfFirst(sides.first(sides.size() - 1), rest);
}

// Whatever halves the nodes also divides the switches, into `few` and the others, and cuts the
// cables between these and the links of ends that are on the other side.
//
// Upper: switches in order, the longest dimension last, are slab by slab, row by row; the halves
// have the least cables between them that any have (Arjona Aroca, Fernandez Anta: Bisection
// (Band)Width of Product Networks with Application to Data Centers, TAMC 2012), 2 (k^n - 1)/(k - 1)
// where all n sides are k, odd.
//
// Lower: of traffic between all switches, dimension by dimension, each direction of a cable carries
// `load` at most; so few (all - few) of it cannot leave by fewer cables than that over the load
// (Leighton: Introduction to Parallel Algorithms and Architectures, 1992). Where every switch has
// an even number of cables, so has the cut.
Bisection BisectionOf(std::vector<std::uint32_t> sides, std::uint32_t ends, std::uint32_t half,
                      double rate, double link) {
  std::ranges::sort(sides);
  double switches = 1;
  bool even = true;
  double load = 0;
  for (const double side : sides) switches *= side;
  for (const double side : sides) {
    if (side == 2) even = false;
    const double odd = static_cast<std::uint32_t>(side) % 2;
    const double distance = (side * side - odd) / 4 / side;
    load = std::max(load, switches * distance / (side == 2 ? 1 : 2));
  }
  double lower = half * link;
  double upper = lower;
  for (std::uint64_t few = 1; few <= static_cast<std::uint64_t>(switches / 2); ++few) {
    const double among = static_cast<double>(few);
    const double strangers = std::max(0.0, half - among * ends) * link;
    double cut = std::ceil(among * (switches - among) / load - 1e-9);
    if (even) cut = 2 * std::ceil(cut / 2);
    lower = std::min(lower, cut * rate + strangers);
    upper = std::min(upper, CutOfFirst(sides, few) * rate + strangers);
  }
  Bisection bisection{.lower = Rate::BitsPerSecond(std::llround(std::min(lower, kMaxTotalRate))),
                      .upper = Rate::BitsPerSecond(std::llround(std::min(upper, kMaxTotalRate))),
                      .method =
                          "formula: lower, what all-to-all traffic needs of any cut; upper, "
                          "slabs and rows of the torus"};
  if (bisection.lower == bisection.upper) bisection.method = "formula: exact, as bounds meet";
  return bisection;
}

Result<NetworkPlan> PlanTorus(const FabricParameters& parameters) {
  const auto sides = parameters.Counts("sizes");
  if (sides.empty() || sides.size() > kMaxDimensions) {
    return parameters.Fail(
        "sizes", "TL1405",
        fmt::format("a torus has 1 to {} dimensions, this one {}", kMaxDimensions, sides.size()),
        "write sizes=[8,8,8]: switches along each dimension");
  }
  const double switches = std::accumulate(sides.begin(), sides.end(), 1.0, std::multiplies<>());
  if (switches > kMaxSwitches) return TooManySwitches(switches);
  const std::uint32_t ends = parameters.Count("ends", parameters.nics());
  const Rate rate = parameters.uplink();
  SwitchGraph graph;
  graph.summary =
      fmt::format("a torus of {} switches, {} each", fmt::join(sides, " x "), Plural(ends, "end"));
  graph.leaves = static_cast<std::uint32_t>(switches);
  graph.ends = ends;
  for (const std::uint32_t side : sides) graph.cables += CablesAlong(side, switches);
  graph.fastest = rate;
  graph.torus = sides;
  const bool whole_nodes = ends % parameters.nics() == 0;
  const auto nodes = static_cast<std::uint64_t>(switches) * ends / parameters.nics();
  if (whole_nodes && nodes > 1) {
    const auto half = static_cast<std::uint32_t>(nodes / 2 * parameters.nics());
    graph.bisection = BisectionOf(sides, ends, half, static_cast<double>(rate.bits_per_second()),
                                  static_cast<double>(parameters.link().bits_per_second()));
  }
  graph.cable = [sides, rate](const SwitchGraph::AddCable& cable) { Cable(sides, rate, cable); };
  return PlanSwitchGraph(parameters, std::move(graph));
}

}  // namespace

const Builder& TorusBuilder() {
  static const Builder builder = {{"torus",
                                   "switches in a grid that closes on itself in each dimension",
                                   {{"sizes", FabricKey::Type::kCounts, 1, kMaxSwitches, "required",
                                     "switches along each dimension"},
                                    CountKey("ends", "the NICs of a node", "NICs of a switch"),
                                    LinkKey(),
                                    UplinkKey()}},
                                  PlanTorus};
  return builder;
}

}  // namespace trunkline
