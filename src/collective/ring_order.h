#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/collective/schedule.h"

namespace trunkline {

// The order in which each channel of a ring visits the ranks: node after node, so that only one hop
// a node leaves it.
//
// With one channel each node is walked from its first rank. With several, channel c enters node i
// at local position (c - i) mod G and walks the node in order, so it leaves at (c - i - 1) mod G,
// which is where it enters node i + 1: every hop between nodes stays on one rail, and over G
// channels each rank (and its NIC) sends one channel out of the node and takes one in. The closing
// hop, from node N - 1 back to node 0, goes from rail (c - N) mod G to rail c: it stays on its rail
// only where G divides N, and crosses the spine of a rail-optimised fabric otherwise.
class RingOrder {
 public:
  RingOrder(const GroupLayout& layout, std::uint32_t channels);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(by_node_.size()); }
  // Where node `node` begins in the order of every channel, and the end of the last.
  [[nodiscard]] std::uint32_t node_begin(std::uint32_t node) const { return node_begin_[node]; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(node_begin_.size() - 1);
  }
  [[nodiscard]] std::uint32_t position(std::uint32_t rank, std::uint32_t channel) const {
    const std::uint32_t node = node_[rank];
    const std::uint32_t size = node_begin_[node + 1] - node_begin_[node];
    const std::uint32_t walked = in_node_[rank] + size - entry(node, size, channel);
    return node_begin_[node] + (walked < size ? walked : walked - size);
  }
  [[nodiscard]] std::uint32_t rank(std::uint32_t position, std::uint32_t channel) const {
    const std::uint32_t node = node_[by_node_[position]];
    const std::uint32_t size = node_begin_[node + 1] - node_begin_[node];
    const std::uint32_t in_node = position - node_begin_[node] + entry(node, size, channel);
    return by_node_[node_begin_[node] + (in_node < size ? in_node : in_node - size)];
  }

 private:
  [[nodiscard]] std::uint32_t entry(std::uint32_t node, std::uint32_t size,
                                    std::uint32_t channel) const {
    if (!rotates_) {
      return 0;
    }
    const std::uint32_t back = node % size;
    const std::uint32_t forward = channel % size;
    return forward >= back ? forward - back : forward + size - back;
  }

  bool rotates_ = false;
  std::vector<std::uint32_t> node_;     // by rank
  std::vector<std::uint32_t> in_node_;  // by rank: its position among its node's ranks
  std::vector<std::uint32_t>
      node_begin_;                      // by node: where it begins in by_node_; one more at the end
  std::vector<std::uint32_t> by_node_;  // ranks sorted by (node, local index)
};

}  // namespace trunkline
