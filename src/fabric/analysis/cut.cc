#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <map>
#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {

Rate CutCapacity(const Fabric& fabric, const std::vector<bool>& side) {
  TL_CHECK(side.size() == fabric.node_count(), side.size(), fabric.node_count());
  using Graph = lemon::SmartDigraph;
  Graph graph;
  // The nodes of either side are one vertex: a flow may start and end at any of their NICs.
  const Graph::Node source = graph.addNode();
  const Graph::Node sink = graph.addNode();
  std::vector<Graph::Node> vertex(fabric.device_count());
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind == DeviceKind::kSwitch) {
      vertex[i] = graph.addNode();
    } else if (device.node != Device::kNoNode) {
      vertex[i] = side[device.node] ? source : sink;
    }
  }
  std::map<std::pair<int, int>, std::int64_t> rates;  // parallel cables are one arc
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    const int from = Graph::id(vertex[Index(link.from)]);
    const int to = Graph::id(vertex[Index(link.to)]);
    if (link.kind == LinkKind::kNetwork && from != to) {
      rates[{from, to}] += link.rate.bits_per_second();
    }
  }
  Graph::ArcMap<std::int64_t> capacity(graph);
  std::vector<std::pair<Graph::Arc, std::int64_t>> arcs;
  arcs.reserve(rates.size());
  for (const auto& [ends, rate] : rates) {
    arcs.emplace_back(graph.addArc(Graph::nodeFromId(ends.first), Graph::nodeFromId(ends.second)),
                      rate);
  }
  for (const auto& [arc, rate] : arcs) capacity[arc] = rate;
  lemon::Preflow<Graph, Graph::ArcMap<std::int64_t>> flow(graph, capacity, source, sink);
  flow.runMinCut();
  return Rate::BitsPerSecond(flow.flowValue());
}

}  // namespace trunkline
