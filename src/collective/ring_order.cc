#include "collective/ring_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trunkline {

std::vector<RingOrder::Walk> RingOrder::WalksOf(std::uint32_t size) {
  std::vector<Walk> walks;
  for (std::uint32_t stride = 1; stride < size; ++stride) {
    if (std::gcd(stride, size) != 1) continue;
    std::uint32_t inverse = 1;
    while (stride * inverse % size != 1 % size) ++inverse;
    walks.push_back({stride, inverse});
  }
  return walks;
}

RingOrder::RingOrder(const GroupLayout& layout, std::uint32_t channels)
    : node_(layout.node),
      in_node_(layout.size()),
      node_begin_(layout.node_count() + 1),
      by_node_(layout.size()) {
  std::iota(by_node_.begin(), by_node_.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(layout.node[a], layout.local[a], a) <
           std::tuple(layout.node[b], layout.local[b], b);
  };
  // Groups mostly are in this order already, and 16,384 ranks take a while to sort.
  if (!std::ranges::is_sorted(by_node_, before)) std::ranges::sort(by_node_, before);
  for (const std::uint32_t node : node_) {
    ++node_begin_[node + 1];
  }
  std::partial_sum(node_begin_.begin(), node_begin_.end(), node_begin_.begin());
  for (std::uint32_t i = 0; i < by_node_.size(); ++i) {
    in_node_[by_node_[i]] = i - node_begin_[node_[by_node_[i]]];
  }
  if (channels == 1) return;
  manner_ = Manner::kAllRails;
  const std::uint32_t size = node_begin_[1];
  const bool alike = std::ranges::adjacent_find(node_begin_, [&](std::uint32_t a, std::uint32_t b) {
                       return b - a != size;
                     }) == node_begin_.end();
  if (!alike) return;
  if (layout.meshed) {
    walks_ = WalksOf(size);
  } else if (size % 2 == 0 && node_count() % 2 == 0) {
    manner_ = Manner::kTwoRails;
  }
}

}  // namespace trunkline
