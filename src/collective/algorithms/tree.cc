#include <utility>

#include "collective/cost_terms.h"
#include "collective/registry.h"
#include "collective/ring_order.h"
#include "collective/slices.h"
#include "collective/tree_schedule.h"

namespace trunkline {
namespace {

// A binomial tree over places counted from the root along the ring order, so that subtrees are
// neighbours: the parent of a place is the place without its lowest set bit.
Tree BinomialTree(const RingOrder& order, std::uint32_t root, std::uint32_t channel) {
  const std::uint32_t ranks = order.size();
  const std::uint32_t start = order.position(root, channel);
  std::vector<Participant> parent(ranks, Tree::kNone);
  for (std::uint32_t place = 1; place < ranks; ++place) {
    parent[order.rank((start + place) % ranks, channel)] =
        order.rank((start + (place & (place - 1))) % ranks, channel);
  }
  return Tree(std::move(parent));
}

bool Supports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBroadcast ||
         primitive == Primitive::kReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> Make(const CollectiveSpec& spec,
                                             const GroupLayout& layout) {
  const RingOrder order(layout, spec.channels);
  std::vector<Tree> trees;
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    trees.push_back(BinomialTree(order, spec.root, channel));
  }
  const std::int64_t slices = spec.slice.count() > 0 ? SliceCount(spec, spec.channels) : 1;
  return std::make_shared<TreeSchedule>("tree", spec, layout.size(), std::move(trees),
                                        layout.size(), slices);
}

// Levels inside nodes and levels between them, each with the whole buffer, up and down. The trees
// of all channels have one root, so its NIC carries each of them.
std::vector<CostTerm> Terms(const CollectiveSpec& spec, const GroupShape& shape) {
  const bool both_ways =
      spec.primitive == Primitive::kAllReduce || spec.primitive == Primitive::kBarrier;
  const double inside = (both_ways ? 2 : 1) * CeilLog2(shape.per_node);
  const double outside = (both_ways ? 2 : 1) * CeilLog2(shape.nodes);
  const double bytes = BytesOf(spec);
  return {
      {.inside_steps = inside, .inside_bytes = inside * bytes},
      {.outside_steps = outside, .outside_bytes = outside * bytes, .node_bytes = outside * bytes}};
}

}  // namespace

Algorithm TreeAlgorithm() {
  return {.name = "tree",
          .summary = "a binomial tree to and from the root: few steps, the whole buffer each",
          .cost = "all_reduce: 2 ceil(log2 p) steps of n bytes; broadcast, reduce: half",
          .supports = Supports,
          .make = Make,
          .cost_terms = Terms,
          .is_tree = true};
}

}  // namespace trunkline
