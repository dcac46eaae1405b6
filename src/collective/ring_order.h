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
//
// Where the ranks of a node are joined pair by pair, one walk would use one link of each rank.
// There channel c takes strides of s instead, the (c mod u)-th of the u numbers below G that have
// no factor in common with it, and enters node i at (c - s i) mod G: walks of different strides
// share no link, and 8 GPUs use 4 of the 7 links that each has.
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
    if (!walks_.empty()) return node_begin_[node] + walked * walk(channel).inverse % size;
    return node_begin_[node] + (walked < size ? walked : walked - size);
  }
  [[nodiscard]] std::uint32_t rank(std::uint32_t position, std::uint32_t channel) const {
    const std::uint32_t node = node_[by_node_[position]];
    const std::uint32_t size = node_begin_[node + 1] - node_begin_[node];
    const std::uint32_t steps = position - node_begin_[node];
    const std::uint32_t stride = walks_.empty() ? 1 : walk(channel).stride;
    std::uint32_t in_node = steps * stride + entry(node, size, channel);
    if (stride > 1) in_node %= size;
    return by_node_[node_begin_[node] + (in_node < size ? in_node : in_node - size)];
  }

 private:
  struct Walk {
    std::uint32_t stride = 1;
    std::uint32_t inverse = 1;  // of the stride, modulo the size of a node
  };

  // None where nodes differ in size.
  [[nodiscard]] static std::vector<Walk> WalksOf(const std::vector<std::uint32_t>& node_begin);
  [[nodiscard]] const Walk& walk(std::uint32_t channel) const {
    return walks_[channel % walks_.size()];
  }
  [[nodiscard]] std::uint32_t entry(std::uint32_t node, std::uint32_t size,
                                    std::uint32_t channel) const {
    if (!rotates_) {
      return 0;
    }
    const std::uint32_t stride = walks_.empty() ? 1 : walk(channel).stride;
    const std::uint32_t back = node % size * stride % size;
    const std::uint32_t forward = channel % size;
    return forward >= back ? forward - back : forward + size - back;
  }

  bool rotates_ = false;
  std::vector<Walk> walks_;             // channels take them in turns; empty: strides of one
  std::vector<std::uint32_t> node_;     // by rank
  std::vector<std::uint32_t> in_node_;  // by rank: its position among its node's ranks
  std::vector<std::uint32_t>
      node_begin_;                      // by node: where it begins in by_node_; one more at the end
  std::vector<std::uint32_t> by_node_;  // ranks sorted by (node, local index)
};

}  // namespace trunkline
