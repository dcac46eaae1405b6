#include <utility>

#include "collective/cost_terms.h"
#include "collective/registry.h"
#include "collective/ring_order.h"
#include "collective/slices.h"
#include "collective/tree_schedule.h"

namespace trunkline {
namespace {

// Parent of `v` in the in-order binary tree that hangs below 0 and spans 1 … count - 1: odd numbers
// are leaves, even ones are inside (the tree of NCCL; Sanders, Speck and Träff, Parallel Computing
// 2009). REQUIRES: 0 < v < count.
std::uint32_t InOrderParent(std::uint32_t v, std::uint32_t count) {
  const std::uint32_t bit = v & (~v + 1);
  const std::uint32_t above = (v ^ bit) | (bit << 1);
  return above < count ? above : v ^ bit;
}

// The same of the second tree, where v takes the place of another number of different parity: its
// mirror image where 1 … count - 1 are an even number, else its successor (the last, at odd place
// 1, is then the only leaf of both). What is a leaf of one tree is inside the other, so that both
// together load each node's link twice in each direction.
std::uint32_t SecondParent(std::uint32_t v, std::uint32_t count) {
  const std::uint32_t others = count - 1;
  if (others % 2 == 0) {
    const std::uint32_t parent = InOrderParent(count - v, count);
    return parent == 0 ? 0 : count - parent;
  }
  const std::uint32_t parent = InOrderParent(v % others + 1, count);
  return parent == 0 ? 0 : (parent + others - 2) % others + 1;
}

// A tree over nodes whose heads talk to each other; the rest of a node hangs below its head as a
// chain. Head of every node is the rank at position `head`, so that trees between nodes keep to one
// rail and each channel to another.
Tree NodeTree(const RingOrder& order, std::uint32_t root_node, std::uint32_t head, bool second) {
  const std::uint32_t count = order.node_count();
  const auto size = [&](std::uint32_t node) {
    return order.node_begin(node + 1) - order.node_begin(node);
  };
  const auto member = [&](std::uint32_t node, std::uint32_t place) {
    return order.rank(order.node_begin(node) + (head + place) % size(node), 0);
  };
  std::vector<Participant> parent(order.size(), Tree::kNone);
  for (std::uint32_t v = 0; v < count; ++v) {
    const std::uint32_t node = (root_node + v) % count;
    if (v > 0) {
      const std::uint32_t above = second ? SecondParent(v, count) : InOrderParent(v, count);
      parent[member(node, 0)] = member((root_node + above) % count, 0);
    }
    for (std::uint32_t place = 1; place < size(node); ++place) {
      parent[member(node, place)] = member(node, place - 1);
    }
  }
  return Tree(std::move(parent));
}

bool IsRooted(Primitive primitive) {
  return primitive == Primitive::kBroadcast || primitive == Primitive::kReduce;
}

bool DoubleBinaryTreeSupports(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kBroadcast ||
         primitive == Primitive::kReduce || primitive == Primitive::kBarrier;
}

Result<std::shared_ptr<const Schedule>> MakeDoubleBinaryTree(const CollectiveSpec& spec,
                                                             const GroupLayout& layout) {
  const RingOrder order(layout, 1);
  const std::uint32_t root_node = layout.node[spec.root];
  const std::uint32_t root_place = order.position(spec.root, 0) - order.node_begin(root_node);
  std::vector<Tree> trees;
  for (std::uint32_t channel = 0; channel < spec.channels; ++channel) {
    const std::uint32_t head = IsRooted(spec.primitive) ? root_place : channel;
    for (const bool second : {false, true}) {
      trees.push_back(NodeTree(order, root_node, head, second));
    }
  }
  const auto slices = SliceCount(spec, std::int64_t{2} * spec.channels);
  return std::make_shared<TreeSchedule>("double_binary_tree", spec, layout.size(), std::move(trees),
                                        layout.size(), slices);
}

// Each way: a chain inside a node and the depth of a tree over nodes to fill, then all the data. On
// its way up and down together a rank sends the buffer twice.
std::vector<CostTerm> DoubleBinaryTreeTerms(const CollectiveSpec& spec, const GroupShape& shape) {
  const double ways = IsRooted(spec.primitive) ? 1 : 2;
  const double inside = ways * (shape.per_node - 1);
  const double outside = ways * CeilLog2(shape.nodes);
  const double bytes = BytesOf(spec);
  const std::int64_t trees = std::int64_t{2} * spec.channels;
  const double slice =
      bytes / static_cast<double>(trees) / static_cast<double>(SliceCount(spec, trees));
  // In a node of two, a rank passes data on in one direction only.
  const double chain_ways = shape.per_node > 2 ? ways : std::min<double>(1, shape.per_node - 1);
  const double between = shape.nodes > 1 ? ways * bytes : 0;
  // Every tree of a rooted primitive is headed in its node by a rank of the root's local index.
  const double share = IsRooted(spec.primitive) ? 1 : LargestShare(spec.channels, shape.per_node);
  return {{.inside_steps = inside,
           .outside_steps = outside,
           .inside_bytes = chain_ways * bytes,
           .outside_bytes = between * share,
           .node_bytes = between},
          {.inside_bytes = inside * slice},
          {.outside_bytes = outside * slice}};
}

}  // namespace

Algorithm DoubleBinaryTreeAlgorithm() {
  return {.name = "double_binary_tree",
          .summary = "two complementary pipelined trees over nodes, half the data on each",
          .cost =
              "all_reduce: about 4 log2 p steps to fill, then 2n bytes sent by each rank; "
              "broadcast, reduce: half of both",
          .supports = DoubleBinaryTreeSupports,
          .make = MakeDoubleBinaryTree,
          .cost_terms = DoubleBinaryTreeTerms,
          .in_nccl = [](Primitive primitive) { return !IsRooted(primitive); },
          .is_tree = true};
}

}  // namespace trunkline
