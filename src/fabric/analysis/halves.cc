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

std::size_t FewestOfHalf(std::vector<std::uint32_t> nodes, std::uint32_t node_count) {
  std::ranges::sort(nodes);
  std::vector<std::size_t> counts;
  for (auto at = nodes.begin(); at != nodes.end();) {
    const auto next = std::upper_bound(at, nodes.end(), *at);
    counts.push_back(static_cast<std::size_t>(next - at));
    at = next;
  }
  std::ranges::sort(counts);
  const std::size_t without = node_count - counts.size();
  std::size_t sum = 0;
  for (std::size_t i = 0; i + without < node_count / 2; ++i) sum += counts[i];
  return sum;
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
