#include "collective/ring_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trunkline {

std::vector<RingOrder::Walk> RingOrder::WalksOf(const std::vector<std::uint32_t>& node_begin) {
  const std::uint32_t size = node_begin[1] - node_begin[0];
  for (std::size_t node = 1; node + 1 < node_begin.size(); ++node) {
    if (node_begin[node + 1] - node_begin[node] != size) return {};
  }
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
    : rotates_(channels > 1),
      node_(layout.node),
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
  if (rotates_ && layout.meshed) walks_ = WalksOf(node_begin_);
}

}  // namespace trunkline
