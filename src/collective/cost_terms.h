#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "trunkline/collective/algorithm.h"

// What the cost terms of several algorithms have in common.
namespace trunkline {

inline double BytesOf(const CollectiveSpec& spec) {
  return static_cast<double>(spec.bytes.count());
}

inline double CeilLog2(std::uint32_t n) { return std::bit_width(n - 1); }

// The largest part of a node's traffic that one rank carries when each channel leaves the node from
// another rank.
inline double LargestShare(std::uint32_t channels, std::uint32_t per_node) {
  const double most = (channels + per_node - 1) / per_node;
  return most / channels;
}

// A pass of `steps` around rings that visit node after node, in which every rank sends `bytes`: on
// each channel one rank of a node sends them out of it, the others inside.
inline CostTerm RingTerm(const CollectiveSpec& spec, const GroupShape& shape, double steps,
                         double bytes) {
  if (shape.nodes == 1) {
    return {.inside_steps = steps, .inside_bytes = bytes};
  }
  // Of p hops, one a node leaves it; of the p - 1 of a pass all but one of those at least.
  const double outside = steps * (shape.nodes - 1) / (shape.ranks - 1);
  const double least_share = static_cast<double>(spec.channels / shape.per_node) / spec.channels;
  return {.inside_steps = steps - outside,
          .outside_steps = outside,
          .inside_bytes = shape.per_node == 1 ? 0 : bytes * (1 - least_share),
          .outside_bytes = bytes * LargestShare(spec.channels, shape.per_node),
          .node_bytes = bytes};
}

// Handing the buffer to a neighbour and getting it back, where the ranks are not a power of two.
// Neighbours are numbered 2i and 2i + 1, so some are in different nodes where those are odd.
inline CostTerm FoldTerm(const GroupShape& shape, double bytes) {
  if (std::has_single_bit(shape.ranks)) {
    return {};
  }
  return shape.nodes == 1 || shape.per_node % 2 == 0
             ? CostTerm{.inside_steps = 2, .inside_bytes = 2 * bytes}
             : CostTerm{.outside_steps = 2, .outside_bytes = 2 * bytes, .node_bytes = 2 * bytes};
}

// How many of the exchanges over distances 1, 2, 4, … between active ranks stay in their nodes for
// all of them, and how many do not.
struct DoublingLevels {
  int inside = 0;
  int outside = 0;

  static DoublingLevels Of(const GroupShape& shape) {
    const int all = static_cast<int>(std::bit_width(shape.ranks)) - 1;
    if (shape.nodes == 1) {
      return {.inside = all};
    }
    if (!std::has_single_bit(shape.per_node)) {
      return {.outside = all};
    }
    // Ranks that take in a neighbour are two places apart.
    const int folded = std::has_single_bit(shape.ranks) ? 0 : 1;
    const int inside = std::max(std::countr_zero(shape.per_node) - folded, 0);
    return {.inside = inside, .outside = all - inside};
  }
};

// Blocks of `each` bytes from every rank straight to every other.
inline CostTerm ExchangeTerm(const GroupShape& shape, double each) {
  const double near = shape.per_node - 1;
  const double far = shape.ranks - shape.per_node;
  return {.inside_bytes = near * each,
          .outside_bytes = far * each,
          .node_bytes = far * each * shape.per_node};
}

}  // namespace trunkline
