#include "fabric/analysis/halves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fabric/analysis/metis_graph.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

// Nothing when METIS fails, as it may on graphs without edges.
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

}  // namespace

std::vector<bool> HalvedInOrder(std::uint32_t nodes) {
  std::vector<bool> side(nodes, false);
  std::fill_n(side.begin(), nodes / 2, true);
  return side;
}

Halving ThinnestHalving(const Fabric& fabric) {
  Halving thinnest{
      .side = HalvedInOrder(fabric.node_count()), .cut = {}, .how = "in order, cut by max-flow"};
  thinnest.cut = CutCapacity(fabric, thinnest.side);
  if (auto side = HalvedByMetis(fabric)) {
    thinnest.how = "in order and by METIS, cut by max-flow";
    if (const Rate cut = CutCapacity(fabric, *side); cut < thinnest.cut) {
      thinnest.cut = cut;
      thinnest.side = *std::move(side);
    }
  }
  return thinnest;
}

}  // namespace trunkline
