#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/collective/schedule.h"

namespace trunkline {

// The order in which each channel of a ring visits the ranks: node after node, so that only one hop
// a node leaves it.
//
// With one channel each node is walked from its first rank. With several, channel c enters node 0
// at local position c mod G and walks it so that it leaves at the position where it enters the
// next node: every hop between nodes stays on one rail, and over G channels each rank (and its NIC)
// sends one channel out of the node and takes one in.
//
// Of an even number of nodes with as even numbers of ranks, channels are on two rails in turns, as
// NCCL's are where it may not cross rails (src/graph/connect.cc). One that enters at an even
// position walks upwards and leaves at the position before; one that enters at an odd one walks
// downwards and leaves at the position after. Two nodes on it is where it was, so the closing hop
// stays on its rail too. The hops that channels spare are those from an even position to the one
// before: from pair to pair of GPUs, where pairs share a PCIe switch.
//
// Otherwise channel c enters node i at (c - i) mod G and walks upwards. The closing hop, from node
// N - 1 back to node 0, goes from rail (c - N) mod G to rail c: it stays on its rail only where G
// divides N, and crosses the spine of a rail-optimised fabric elsewhere.
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
    const std::uint32_t first = entry(node, size, channel);
    const std::uint32_t walked = downwards(first) ? Sum(first, size - in_node_[rank], size)
                                                  : Sum(in_node_[rank], size - first, size);
    if (!walks_.empty()) return node_begin_[node] + walked * walk(channel).inverse % size;
    return node_begin_[node] + walked;
  }
  [[nodiscard]] std::uint32_t rank(std::uint32_t position, std::uint32_t channel) const {
    const std::uint32_t node = node_[by_node_[position]];
    const std::uint32_t size = node_begin_[node + 1] - node_begin_[node];
    std::uint32_t walked = position - node_begin_[node];
    if (!walks_.empty()) walked = walked * walk(channel).stride % size;
    const std::uint32_t first = entry(node, size, channel);
    const std::uint32_t in_node = Sum(first, downwards(first) ? size - walked : walked, size);
    return by_node_[node_begin_[node] + in_node];
  }

 private:
  struct Walk {
    std::uint32_t stride = 1;
    std::uint32_t inverse = 1;  // of the stride, modulo the size of a node
  };

  [[nodiscard]] static std::vector<Walk> WalksOf(std::uint32_t size);
  [[nodiscard]] const Walk& walk(std::uint32_t channel) const {
    return walks_[channel % walks_.size()];
  }
  // Of numbers up to `size`, modulo it.
  [[nodiscard]] static std::uint32_t Sum(std::uint32_t a, std::uint32_t b, std::uint32_t size) {
    return a + b < size ? a + b : a + b - size;
  }
  [[nodiscard]] std::uint32_t entry(std::uint32_t node, std::uint32_t size,
                                    std::uint32_t channel) const {
    if (manner_ == Manner::kOneChannel) return 0;
    const std::uint32_t first = channel % size;
    if (manner_ == Manner::kTwoRails) {
      if (node % 2 == 0) return first;
      return Sum(first, first % 2 == 0 ? size - 1 : 1, size);
    }
    const std::uint32_t stride = walks_.empty() ? 1 : walk(channel).stride;
    return Sum(first, size - node % size * stride % size, size);
  }
  [[nodiscard]] bool downwards(std::uint32_t entry) const {
    return manner_ == Manner::kTwoRails && entry % 2 != 0;
  }

  enum class Manner : std::uint8_t { kOneChannel, kTwoRails, kAllRails };

  Manner manner_ = Manner::kOneChannel;
  std::vector<Walk> walks_;             // channels take them in turns; empty: strides of one
  std::vector<std::uint32_t> node_;     // by rank
  std::vector<std::uint32_t> in_node_;  // by rank: its position among its node's ranks
  std::vector<std::uint32_t>
      node_begin_;                      // by node: where it begins in by_node_; one more at the end
  std::vector<std::uint32_t> by_node_;  // ranks sorted by (node, local index)
};

}  // namespace trunkline
