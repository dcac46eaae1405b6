#include <utility>

#include "collective/cost_terms.h"
#include "collective/registry.h"
#include "collective/ring_order.h"
#include "collective/slices.h"
#include "collective/tree_schedule.h"

namespace trunkline {
namespace {

// Hosts below one leaf switch of a 64-port non-blocking fabric (NVIDIA Quantum-2 QM9700: 64 ports
// of NDR, half of them down).
constexpr std::uint32_t kRadix = 32;

// Ranks, in ring order, below aggregation vertices of `kRadix` children each, level upon level up
// to one root. Vertices are numbered after the ranks.
std::vector<Participant> AggregationTree(const GroupLayout& layout) {
  const RingOrder order(layout, 1);
  std::vector<Participant> level;
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    level.push_back(order.rank(position, 0));
  }
  std::vector<Participant> parent(layout.size(), Tree::kNone);
  do {
    std::vector<Participant> above;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (i % kRadix == 0) {
        above.push_back(static_cast<Participant>(parent.size()));
        parent.push_back(Tree::kNone);
      }
      parent[level[i]] = above.back();
    }
    level = std::move(above);
  } while (level.size() > 1);
  return parent;
}

bool SharpSupports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> MakeSharp(const CollectiveSpec& spec,
                                                  const GroupLayout& layout) {
  const auto parent = AggregationTree(layout);
  const std::vector<Tree> trees(spec.channels, Tree(parent));
  return std::make_shared<TreeSchedule>("sharp", spec, layout.size(), trees,
                                        static_cast<std::uint32_t>(parent.size()),
                                        SliceCount(spec, spec.channels));
}

// Ranks and aggregation vertices are one network hop apart.
std::vector<CostTerm> SharpTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  double levels = 1;
  for (std::uint32_t reach = kRadix; reach < shape.ranks; reach *= kRadix) {
    ++levels;
  }
  return {{.outside_steps = 2 * levels,
           .outside_bytes = BytesOf(spec),
           .node_bytes = BytesOf(spec) * shape.per_node}};
}

}  // namespace

Algorithm SharpAlgorithm() {
  return {.name = "sharp",
          .summary = "switches add up: each rank sends and receives its buffer once",
          .cost = "all_reduce: n bytes sent by each rank, 2 x tree depth hops, pipelined",
          .supports = SharpSupports,
          .make = MakeSharp,
          .cost_terms = SharpTerms,
          .reduces_in_network = true};
}

}  // namespace trunkline
