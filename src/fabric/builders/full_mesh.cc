#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/plural.h"
#include "fabric/builders/switch_graph.h"

namespace trunkline {
namespace {

// Switches joined all to all by `cables` each. Uniform traffic crosses at most one cable between
// switches, and each pair of them carries 1 / switches of a switch's ends.
Result<NetworkPlan> PlanSwitches(const FabricParameters& parameters, std::uint32_t switches) {
  const std::uint32_t nics = parameters.nics();
  const std::uint32_t cables = parameters.Count("cables", 1);
  // As few as seat the nodes, whole ones where that is possible.
  const std::uint32_t nodes_each =
      parameters.nodes() == 0 ? 1 : (parameters.nodes() + switches - 1) / switches;
  if (parameters.ends(nodes_each) * switches > 2 * kMaxEnds) {
    return TooManyEnds(parameters.ends(nodes_each) * switches);
  }
  const std::uint32_t ends = parameters.Count("ends", nodes_each * nics);
  const Rate rate = parameters.uplink();
  const double pairs = static_cast<double>(switches) * (switches - 1.0) / 2;
  SwitchGraph graph;
  graph.summary = fmt::format("{} of {}, every two joined by {}", Plural(switches, "switch"),
                              Plural(ends, "end"), Plural(cables, "cable"));
  graph.leaves = switches;
  graph.ends = ends;
  graph.cables = pairs * cables;
  graph.fastest = rate;
  if (HalvesNodes(graph, nics)) {
    const double pair_rate = static_cast<double>(rate.bits_per_second()) * cables;
    const auto link = static_cast<double>(parameters.link().bits_per_second());
    graph.bisection = BisectionOfUniformTraffic(
        static_cast<double>(switches) * ends, pair_rate * switches / ends, link,
        std::min(pair_rate * switches * switches / 4, link * switches * ends / 2));
  }
  graph.cable = [switches, cables, rate](const SwitchGraph::AddCable& cable) {
    for (std::uint32_t a = 0; a < switches; ++a) {
      for (std::uint32_t b = a + 1; b < switches; ++b) {
        for (std::uint32_t i = 0; i < cables; ++i) cable(a, b, rate);
      }
    }
  };
  return PlanSwitchGraph(parameters, std::move(graph));
}

// No switch at all: every two NICs of different nodes are cabled, and share their rate among all
// their ports, unless `link` gives that of a cable.
Result<NetworkPlan> PlanDirect(const FabricParameters& parameters) {
  const std::uint32_t nodes = parameters.nodes();
  const std::uint32_t nics = parameters.nics();
  for (const char* key : {"ends", "cables", "uplink"}) {
    if (!parameters.Has(key)) continue;
    return parameters.Fail(key, "TL1405", fmt::format("{} is of switches, and there are none", key),
                           "write switches=8, say, or leave it out");
  }
  if (nodes < 2) {
    return parameters.Fail("nodes", "TL1405", "a full mesh needs a number of nodes, or of switches",
                           "write how many there are");
  }
  const double ports = static_cast<double>(nodes - 1) * nics;
  const Rate rate = parameters.Has("link")
                        ? parameters.link()
                        : Rate::BitsPerSecond(static_cast<std::int64_t>(
                              static_cast<double>(parameters.link().bits_per_second()) / ports));
  NetworkPlan plan;
  plan.summary = fmt::format(
      "no switch: every two NICs of different nodes joined by {}, {:.0f} "
      "ports a NIC",
      ToString(rate), ports);
  plan.nodes = nodes;
  plan.cables = static_cast<double>(nodes) * nics * ports / 2;
  plan.rate = 2 * plan.cables * static_cast<double>(rate.bits_per_second());
  for (std::uint32_t node = 0; node < nodes; ++node) plan.unit_of_node.push_back(node);
  const double cut =
      static_cast<double>(rate.bits_per_second()) * nics * nics * (nodes / 2) * (nodes - nodes / 2);
  const Rate halves = Rate::BitsPerSecond(static_cast<std::int64_t>(std::min(cut, kMaxTotalRate)));
  plan.bisection = Bisection{halves, halves, "formula: exact, every halving is alike"};
  plan.build = [nodes, nics, rate, latency = parameters.cable_latency()](FabricBuilder& builder,
                                                                         NetworkEnds ends) {
    for (std::size_t a = 0; a < std::size_t{nodes} * nics; ++a) {
      for (std::size_t b = (a / nics + 1) * nics; b < std::size_t{nodes} * nics; ++b) {
        builder.AddCable(ends[a], ends[b], rate, latency, LinkKind::kNetwork);
      }
    }
  };
  return plan;
}

Result<NetworkPlan> PlanFullMesh(const FabricParameters& parameters) {
  const std::uint32_t switches = parameters.Count("switches", 0);
  return switches > 0 ? PlanSwitches(parameters, switches) : PlanDirect(parameters);
}

}  // namespace

const Builder& FullMeshBuilder() {
  static const Builder builder = {
      {"full-mesh",
       "switches joined all to all, or with none of them the NICs themselves: N(N-1)/2 cables",
       {CountKey("switches", "none: NICs are joined directly", "switches"),
        CountKey("ends", "as many as seat the nodes", "NICs of a switch"),
        CountKey("cables", "1", "parallel cables between two switches", 256), LinkKey(),
        UplinkKey()}},
      PlanFullMesh};
  return builder;
}

}  // namespace trunkline
