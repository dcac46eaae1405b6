#include <lemon/preflow.h>
#include <lemon/static_graph.h>

#include <map>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

// The nodes of either side are one vertex: a flow may start and end at any of their NICs.
constexpr int kSource = 0;
constexpr int kSink = 1;

// The vertex of every device; switches are numbered from 2.
struct Vertices {
  std::vector<int> of_device;
  int count = 2;
};

Vertices NumberVertices(const Fabric& fabric, const std::vector<bool>& side) {
  Vertices vertices{.of_device = std::vector<int>(fabric.device_count(), kSink)};
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind == DeviceKind::kSwitch) {
      vertices.of_device[i] = vertices.count++;
    } else if (device.node != Device::kNoNode && side[device.node]) {
      vertices.of_device[i] = kSource;
    }
  }
  return vertices;
}

}  // namespace

Rate CutCapacity(const Fabric& fabric, const std::vector<bool>& side) {
  TL_CHECK(side.size() == fabric.node_count(), side.size(), fabric.node_count());
  const Vertices vertices = NumberVertices(fabric, side);
  std::map<std::pair<int, int>, std::int64_t> rates;  // parallel cables are one arc
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    const int from = vertices.of_device[Index(link.from)];
    const int to = vertices.of_device[Index(link.to)];
    if (link.kind == LinkKind::kNetwork && from != to) {
      rates[{from, to}] += link.rate.bits_per_second();
    }
  }

  using Graph = lemon::StaticDigraph;
  std::vector<std::pair<int, int>> arcs;
  for (const auto& [ends, rate] : rates) arcs.push_back(ends);
  Graph graph;
  graph.build(vertices.count, arcs.begin(), arcs.end());
  Graph::ArcMap<std::int64_t> capacity(graph);
  int arc = 0;  // numbered in the order of `arcs`
  for (const auto& [ends, rate] : rates) capacity[Graph::arc(arc++)] = rate;
  lemon::Preflow<Graph, Graph::ArcMap<std::int64_t>> flow(graph, capacity, Graph::node(kSource),
                                                          Graph::node(kSink));
  flow.runMinCut();
  return Rate::BitsPerSecond(flow.flowValue());
}

}  // namespace trunkline
