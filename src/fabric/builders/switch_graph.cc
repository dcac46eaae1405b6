#include "fabric/builders/switch_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trunkline {
namespace {

struct Timing {
  Rate link;
  Time cable;
  Time forwarding;
};

void Write(const SwitchGraph& graph, const Timing& timing, FabricBuilder& builder,
           NetworkEnds ends) {
  std::vector<DeviceId> switches;
  const auto add = [&](std::uint8_t tier, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Device device{.kind = DeviceKind::kSwitch,
                    .tier = tier,
                    .node = Device::kNoNode,
                    .local = i,
                    .latency = timing.forwarding};
      if (graph.groups > 0) device.group = i / (count / graph.groups);
      switches.push_back(builder.AddDevice(device));
    }
  };
  // Where every switch has ends none is above another: tier 0, plain switches.
  add(graph.spines > 0 ? 1 : 0, graph.leaves);
  add(2, graph.spines);
  const auto cable = [&](DeviceId a, DeviceId b, Rate rate) {
    builder.AddCable(a, b, rate, timing.cable, LinkKind::kNetwork);
  };
  for (std::size_t end = 0; end < ends.size(); ++end) {
    cable(ends[end], switches[end / graph.ends], timing.link);
  }
  graph.cable(
      [&](std::uint32_t a, std::uint32_t b, Rate rate) { cable(switches[a], switches[b], rate); });
  if (!graph.torus.empty()) builder.SetTorus(graph.torus);
}

}  // namespace

bool HalvesNodes(const SwitchGraph& graph, std::uint32_t nics) {
  return graph.leaves % 2 == 0 && std::uint64_t{graph.leaves} / 2 * graph.ends % nics == 0;
}

Bisection BisectionOfUniformTraffic(double ends, double rate_per_end, double link, double cut) {
  const double lower = std::min({ends / 4 * rate_per_end, ends / 2 * link, cut});
  Bisection bisection{.lower = Rate::BitsPerSecond(std::llround(std::min(lower, kMaxTotalRate))),
                      .upper = Rate::BitsPerSecond(std::llround(std::min(cut, kMaxTotalRate))),
                      .method =
                          "formula: lower, what uniform traffic carries over a halving; "
                          "upper, the halves of the regular network"};
  if (bisection.lower == bisection.upper) bisection.method = "formula: exact, as bounds meet";
  return bisection;
}

double CutInOrder(const SwitchGraph& graph) {
  const auto first_half = [&](std::uint32_t s) {
    return s < graph.leaves ? s < graph.leaves / 2 : s - graph.leaves < graph.spines / 2;
  };
  double cut = 0;
  graph.cable([&](std::uint32_t a, std::uint32_t b, Rate rate) {
    if (first_half(a) != first_half(b)) cut += static_cast<double>(rate.bits_per_second());
  });
  return cut;
}

Result<NetworkPlan> PlanSwitchGraph(const FabricParameters& parameters, SwitchGraph graph) {
  const std::uint32_t nics = parameters.nics();
  const double room = static_cast<double>(graph.leaves) * graph.ends;
  const double full = std::floor(room / nics);
  const double wanted = parameters.nodes() > 0 ? parameters.nodes() : full;
  if (wanted < 1 || wanted > full) {
    return parameters.Fail(
        "nodes", "TL1405",
        fmt::format("the network has room for {:.0f} NICs, {:.0f} nodes of {}", room, full, nics),
        full > 0 ? fmt::format("nodes={:.0f} at most, or more switches or NICs of a switch", full)
                 : fmt::format("a node needs {} places: more switches or NICs of a switch", nics));
  }
  if (wanted * nics > kMaxEnds) return TooManyEnds(wanted * nics);
  const auto nodes = static_cast<std::uint32_t>(wanted);
  NetworkPlan plan;
  plan.summary = std::move(graph.summary);
  plan.nodes = nodes;
  plan.switches = static_cast<double>(graph.leaves) + graph.spines;
  plan.destinations = graph.leaves;
  plan.cables = wanted * nics + graph.cables;
  plan.rate = 2 * wanted * nics * static_cast<double>(parameters.link().bits_per_second()) +
              2 * graph.cables * static_cast<double>(graph.fastest.bits_per_second());
  if (wanted * nics == room || graph.partly_filled) plan.bisection = graph.bisection;
  const std::uint64_t unit =
      std::uint64_t{graph.ends} * (graph.groups > 0 ? graph.leaves / graph.groups : 1);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    plan.unit_of_node.push_back(static_cast<std::uint32_t>(std::uint64_t{node} * nics / unit));
  }
  const Timing timing{parameters.link(), parameters.cable_latency(), parameters.switch_latency()};
  plan.build = [graph = std::move(graph), timing](FabricBuilder& builder, NetworkEnds ends) {
    Write(graph, timing, builder, ends);
  };
  return plan;
}

}  // namespace trunkline
