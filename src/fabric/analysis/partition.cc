#include "fabric/analysis/partition.h"

#include <algorithm>

#include "fabric/analysis/metis_graph.h"

namespace trunkline {

std::vector<std::uint16_t> PartitionFabric(const Fabric& fabric, std::uint32_t parts) {
  std::vector<std::uint16_t> part_of_device(fabric.device_count(), 0);
  if (parts == 1) return part_of_device;
  MetisGraph graph = MakeMetisGraph(fabric);
  if (graph.weight.size() < parts) return part_of_device;
  // Work is packets that cross ports.
  for (std::size_t v = 0; v < graph.weight.size(); ++v) {
    graph.weight[v] = std::max<idx_t>(1, graph.begin[v + 1] - graph.begin[v]);
  }
  const auto part = Partition(graph, parts);
  if (!part) return part_of_device;
  for (std::size_t i = 0; i < part_of_device.size(); ++i) {
    const auto vertex = static_cast<std::size_t>(graph.vertex_of_device[i]);
    part_of_device[i] = static_cast<std::uint16_t>((*part)[vertex]);
  }
  return part_of_device;
}

}  // namespace trunkline
