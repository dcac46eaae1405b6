#include "fabric/analysis/partition.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "base/disjoint_sets.h"
#include "fabric/analysis/metis_graph.h"

namespace trunkline {
namespace {

// Weights are small integers, because METIS adds them up in 32 bits.
constexpr std::uint64_t kWhole = 1'000'000;

void Weigh(std::span<const std::uint64_t> work, MetisGraph& graph) {
  if (work.empty()) {  // packets that cross ports
    for (std::size_t v = 0; v < graph.weight.size(); ++v) {
      graph.weight[v] = std::max<idx_t>(1, graph.begin[v + 1] - graph.begin[v]);
    }
    return;
  }
  std::vector<std::uint64_t> sum(graph.weight.size(), 0);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    sum[static_cast<std::size_t>(graph.vertex_of_device[i])] += work[i];
    all += work[i];
  }
  const double scale =
      static_cast<double>(kWhole) / static_cast<double>(std::max<std::uint64_t>(1, all));
  for (std::size_t v = 0; v < sum.size(); ++v) {
    graph.weight[v] = 1 + static_cast<idx_t>(static_cast<double>(sum[v]) * scale);
  }
}

// Which vertices stay together, so that only cables of `least` or more can be cut.
DisjointSets Join(const Fabric& fabric, const MetisGraph& graph, std::span<const Time> lengths,
                  Time least) {
  DisjointSets sets(graph.weight.size());
  const auto vertex = [&](DeviceId device) {
    return static_cast<std::uint32_t>(graph.vertex_of_device[Index(device)]);
  };
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind == LinkKind::kNetwork && lengths[i] < least) {
      sets.Unite(vertex(link.from), vertex(link.to));
    }
  }
  return sets;
}

// Whether sets are small enough for parts of equal weight.
bool CanBalance(const MetisGraph& graph, DisjointSets& sets, std::uint32_t parts) {
  std::vector<std::int64_t> weight(graph.weight.size(), 0);
  std::int64_t all = 0;
  for (std::uint32_t v = 0; v < weight.size(); ++v) {
    weight[sets.Find(v)] += graph.weight[v];
    all += graph.weight[v];
  }
  return *std::ranges::max_element(weight) * 2 * parts <= all;
}

// The graph whose vertices are the sets.
MetisGraph Contract(const MetisGraph& graph, DisjointSets& sets) {
  const std::size_t count = graph.weight.size();
  std::vector<idx_t> vertex_of_set(count, -1);
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<idx_t> vertex(count);
  for (std::uint32_t v = 0; v < count; ++v) {
    idx_t& of_set = vertex_of_set[sets.Find(v)];
    if (of_set < 0) {
      of_set = static_cast<idx_t>(members.size());
      members.emplace_back();
    }
    vertex[v] = of_set;
    members[static_cast<std::size_t>(of_set)].push_back(v);
  }
  MetisGraph small;
  for (std::size_t set = 0; set < members.size(); ++set) {
    idx_t& weight = small.weight.emplace_back(0);
    for (const std::uint32_t v : members[set]) {
      weight += graph.weight[v];
      for (idx_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
        const auto edge = static_cast<std::size_t>(e);
        const idx_t to = vertex[static_cast<std::size_t>(graph.neighbour[edge])];
        if (to == static_cast<idx_t>(set)) continue;
        small.neighbour.push_back(to);
        small.rate.push_back(graph.rate[edge]);
      }
    }
    small.begin.push_back(static_cast<idx_t>(small.neighbour.size()));
  }
  for (const idx_t v : graph.vertex_of_device) {
    small.vertex_of_device.push_back(vertex[static_cast<std::size_t>(v)]);
  }
  return small;
}

// Without the cables that are too short to cut: the longer those that are cut, the rarer do parts
// have to do with each other.
MetisGraph JoinByShortCables(const Fabric& fabric, std::span<const Time> lengths,
                             std::uint32_t parts, MetisGraph graph) {
  std::set<Time, std::greater<>> distinct;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (fabric.link(LinkId(i)).kind == LinkKind::kNetwork) distinct.insert(lengths[i]);
  }
  // Fabrics have a few lengths of cable; where each has its own, none is chosen.
  constexpr std::size_t kMost = 16;
  if (distinct.size() < 2 || distinct.size() > kMost) return graph;
  for (const Time least : distinct) {
    DisjointSets sets = Join(fabric, graph, lengths, least);
    if (CanBalance(graph, sets, parts)) return Contract(graph, sets);
  }
  return graph;
}

// Moves vertices from the heaviest part to the lightest while that brings them closer: METIS, which
// looks for few cut cables first, leaves small graphs with a few heavy vertices a tenth apart.
void Balance(const MetisGraph& graph, std::uint32_t parts, std::vector<idx_t>& part) {
  const std::vector<idx_t>& weight = graph.weight;
  std::vector<std::int64_t> load(parts, 0);
  for (std::size_t v = 0; v < part.size(); ++v)
    load[static_cast<std::size_t>(part[v])] += weight[v];
  const std::int64_t all = std::reduce(load.begin(), load.end());
  for (std::size_t moves = 0; moves < part.size(); ++moves) {
    const auto [lightest, heaviest] = std::ranges::minmax_element(load);
    const std::int64_t gap = *heaviest - *lightest;
    const auto from = static_cast<idx_t>(heaviest - load.begin());
    std::size_t best = part.size();
    std::int64_t left = gap - all / 500;  // less is not worth a cut
    for (std::size_t v = 0; v < part.size(); ++v) {
      const bool leaf = graph.begin[v + 1] - graph.begin[v] < 2;  // all it has would cross
      if (part[v] != from || leaf) continue;
      const std::int64_t after = std::abs(gap - 2 * std::int64_t{weight[v]});
      if (after >= left) continue;
      left = after;
      best = v;
    }
    if (best == part.size()) return;
    part[best] = static_cast<idx_t>(lightest - load.begin());
    *heaviest -= weight[best];
    *lightest += weight[best];
  }
}

}  // namespace

std::vector<std::uint16_t> PartitionFabric(const Fabric& fabric, std::uint32_t parts,
                                           std::span<const std::uint64_t> work,
                                           std::span<const Time> lengths) {
  std::vector<std::uint16_t> part_of_device(fabric.device_count(), 0);
  if (parts == 1) return part_of_device;
  MetisGraph graph = MakeMetisGraph(fabric);
  if (graph.weight.size() < parts) return part_of_device;
  Weigh(work, graph);
  graph = JoinByShortCables(fabric, lengths, parts, std::move(graph));
  auto part = Partition(graph, parts);
  if (!part) return part_of_device;
  if (!work.empty()) Balance(graph, parts, *part);
  for (std::size_t i = 0; i < part_of_device.size(); ++i) {
    const auto vertex = static_cast<std::size_t>(graph.vertex_of_device[i]);
    part_of_device[i] = static_cast<std::uint16_t>((*part)[vertex]);
  }
  return part_of_device;
}

}  // namespace trunkline
