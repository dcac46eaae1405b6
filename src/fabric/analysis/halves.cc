#include "fabric/analysis/halves.h"

#include <algorithm>

#include "fabric/analysis/metis_graph.h"

namespace trunkline {

std::vector<bool> HalvedInOrder(std::uint32_t nodes) {
  std::vector<bool> side(nodes, false);
  std::fill_n(side.begin(), nodes / 2, true);
  return side;
}

std::optional<std::vector<bool>> HalvedByMetis(const Fabric& fabric) {
  MetisGraph graph = MakeMetisGraph(fabric);
  for (std::size_t v = fabric.node_count(); v < graph.weight.size(); ++v) graph.weight[v] = 0;
  const auto part = Partition(graph, 2);
  if (!part) return std::nullopt;
  std::vector<bool> side(fabric.node_count());
  for (std::size_t n = 0; n < side.size(); ++n) side[n] = (*part)[n] == 1;
  // METIS balances nearly; the last nodes of the larger side change over.
  auto excess = std::ranges::count(side, true) - static_cast<std::ptrdiff_t>(side.size() / 2);
  for (std::size_t n = side.size(); n-- > 0 && excess != 0;) {
    if (side[n] != (excess > 0)) continue;
    side[n] = !side[n];
    excess += excess > 0 ? -1 : 1;
  }
  return side;
}

}  // namespace trunkline
