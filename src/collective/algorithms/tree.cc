#include <utility>

#include "collective/cost_terms.h"
#include "collective/registry.h"
#include "collective/ring_order.h"
#include "collective/slices.h"
#include "collective/tree_schedule.h"

namespace trunkline {
namespace {

// A binomial tree over places: the parent of a place is the place without its lowest set bit, so
// that subtrees are neighbours. Places follow the ring order from the root's node on, in which the
// root comes first: no node is torn apart, and where nodes hold a power of two of ranks, one hop
// enters each.
Tree BinomialTree(const RingOrder& order, std::uint32_t root, std::uint32_t root_node,
                  std::uint32_t channel) {
  const std::uint32_t ranks = order.size();
  const std::uint32_t begin = order.node_begin(root_node);
  const std::uint32_t beside_root = order.node_begin(root_node + 1) - begin;
  const std::uint32_t turn = order.position(root, channel) - begin;
  const auto rank_at = [&](std::uint32_t place) {
    const std::uint32_t position =
        place < beside_root ? begin + (turn + place) % beside_root : (begin + place) % ranks;
    return order.rank(position, channel);
  };
  std::vector<Participant> parent(ranks, Tree::kNone);
  for (std::uint32_t place = 1; place < ranks; ++place) {
    parent[rank_at(place)] = rank_at(place & (place - 1));
  }
  return Tree(std::move(parent));
}

bool TreeSupports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBroadcast ||
         primitive == Primitive::kReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> MakeTree(const CollectiveSpec& spec,
                                                 const GroupLayout& layout) {
  const RingOrder order(layout, spec.channels);
  std::vector<Tree> trees;
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    trees.push_back(BinomialTree(order, spec.root, layout.node[spec.root], channel));
  }
  const std::int64_t slices = spec.slice.count() > 0 ? SliceCount(spec, spec.channels) : 1;
  return std::make_shared<TreeSchedule>("tree", spec, layout.size(), std::move(trees),
                                        layout.size(), slices);
}

// Levels inside nodes and levels between them, each with the whole buffer, up and down. The trees
// of all channels have one root, so its NIC carries each of them.
std::vector<CostTerm> TreeTerms(const CollectiveSpec& spec, const GroupShape& shape) {
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
          .supports = TreeSupports,
          .make = MakeTree,
          .cost_terms = TreeTerms,
          .is_tree = true};
}

}  // namespace trunkline
