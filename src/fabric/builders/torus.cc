#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

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

// Dimension by dimension, uniform traffic goes (side^2 / 4) / side switches far on average (an odd
// side: (side^2 - 1) / 4), spread evenly over the cables of the dimension both ways. Halving the
// longest side parts the torus at two places. For an even side these are the same figure (Dally,
// Towles: Principles and Practices of Interconnection Networks, 2004, sections 3.2 and 5.2).
std::optional<Bisection> BisectionOf(const std::vector<std::uint32_t>& sides, double switches,
                                     std::uint32_t ends, double rate, double link) {
  double rate_per_end = link;
  std::optional<double> cut;
  for (const double side : sides) {
    if (side < 2) continue;
    const bool odd = static_cast<std::uint32_t>(side) % 2 == 1;
    const double distance = (side * side - (odd ? 1 : 0)) / 4 / side;
    const double links = side == 2 ? 1 : 2;  // out of a switch
    rate_per_end = std::min(rate_per_end, links * rate / (ends * distance));
    if (odd) continue;
    const double along = (side == 2 ? 1 : 2) * switches / side * rate;
    cut = std::min(cut.value_or(along), along);
  }
  if (!cut) return std::nullopt;
  return BisectionOfUniformTraffic(switches * ends, rate_per_end, *cut);
}

Result<NetworkPlan> Plan(const FabricParameters& parameters) {
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
      fmt::format("a torus of {} switches, {} ends each", fmt::join(sides, " x "), ends);
  graph.leaves = static_cast<std::uint32_t>(switches);
  graph.ends = ends;
  for (const std::uint32_t side : sides) graph.cables += CablesAlong(side, switches);
  graph.fastest = rate;
  graph.torus = sides;
  const bool whole_nodes = ends % parameters.nics() == 0;
  if (whole_nodes && static_cast<std::uint64_t>(switches) * ends / parameters.nics() % 2 == 0) {
    graph.bisection =
        BisectionOf(sides, switches, ends, static_cast<double>(rate.bits_per_second()),
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
                                  Plan};
  return builder;
}

}  // namespace trunkline
