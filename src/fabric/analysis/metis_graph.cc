#include "fabric/analysis/metis_graph.h"

#include <algorithm>

namespace trunkline {

MetisGraph MakeMetisGraph(const Fabric& fabric) {
  std::vector<std::vector<DeviceId>> devices(fabric.node_count());
  MetisGraph graph;
  std::vector<idx_t>& vertex = graph.vertex_of_device;
  vertex.resize(fabric.device_count(), 0);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind == DeviceKind::kSwitch) {
      vertex[i] = static_cast<idx_t>(devices.size());
      devices.push_back({DeviceId(i)});
    } else if (device.node != Device::kNoNode) {
      vertex[i] = static_cast<idx_t>(device.node);
      devices[device.node].push_back(DeviceId(i));
    }
  }
  Rate fastest = Rate::BitsPerSecond(1);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    fastest = std::max(fastest, fabric.link(LinkId(i)).rate);
  }
  for (std::size_t v = 0; v < devices.size(); ++v) {
    for (DeviceId device : devices[v]) {
      for (LinkId out : fabric.out(device)) {
        const Link& link = fabric.link(out);
        if (link.kind != LinkKind::kNetwork) continue;
        // Weights are small integers, because METIS adds them up in 32 bits.
        constexpr double kScale = 1000;
        const double share = link.rate.bytes_per_second() / fastest.bytes_per_second();
        graph.neighbour.push_back(vertex[Index(link.to)]);
        graph.rate.push_back(std::max<idx_t>(1, static_cast<idx_t>(share * kScale)));
      }
    }
    graph.begin.push_back(static_cast<idx_t>(graph.neighbour.size()));
    graph.weight.push_back(1);
  }
  return graph;
}

std::optional<std::vector<idx_t>> Partition(MetisGraph& graph, std::uint32_t parts) {
  if (graph.neighbour.empty()) return std::nullopt;
  auto vertices = static_cast<idx_t>(graph.weight.size());
  auto wanted = static_cast<idx_t>(parts);
  idx_t constraints = 1;
  idx_t cut = 0;
  std::vector<idx_t> part(graph.weight.size(), 0);
  std::vector<idx_t> options(METIS_NOPTIONS, 0);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_UFACTOR] = 1;  // the least imbalance, of a thousandth
  if (METIS_PartGraphRecursive(&vertices, &constraints, graph.begin.data(), graph.neighbour.data(),
                               graph.weight.data(), nullptr, graph.rate.data(), &wanted, nullptr,
                               nullptr, options.data(), &cut, part.data()) != METIS_OK) {
    return std::nullopt;
  }
  return part;
}

}  // namespace trunkline
