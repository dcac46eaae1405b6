#include "fabric/analysis/dependency_graph.h"

#include <algorithm>
#include <deque>

namespace trunkline {

DependencyGraph::DependencyGraph(const Fabric& fabric, std::uint32_t lanes)
    : fabric_(fabric), lanes_(lanes), place_(fabric.link_count(), kNone) {
  const auto is_switch = [&](DeviceId at) { return fabric.device(at).kind == DeviceKind::kSwitch; };
  std::vector<std::uint32_t> ports(fabric.device_count(), 0);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (!is_switch(DeviceId(i))) continue;
    for (const LinkId link : fabric.out(DeviceId(i))) {
      if (is_switch(fabric.link(link).to)) place_[Index(link)] = ports[i]++;
    }
  }
  std::size_t bits = 0;
  first_bit_.reserve(fabric.link_count() * lanes);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      first_bit_.push_back(bits);
      if (place_[i] == kNone) continue;
      ++channels_;
      bits += std::size_t{ports[Index(fabric.link(LinkId(i)).to)]} * lanes;
    }
  }
  bits_.resize(bits / 64 + 1, 0);
}

template <typename Visit>
void DependencyGraph::ForEachNext(std::size_t node, Visit visit) const {
  const LinkId link = LinkId(node / lanes_);
  if (place_[Index(link)] == kNone) return;
  for (const LinkId next : fabric_.out(fabric_.link(link).to)) {
    if (place_[Index(next)] == kNone) continue;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      const std::size_t bit = first_bit_[node] + place_[Index(next)] * lanes_ + lane;
      if ((bits_[bit / 64] >> (bit % 64) & 1) == 0) continue;
      visit(NodeOf({next, static_cast<std::uint8_t>(lane)}));
    }
  }
}

// Takes away whatever nothing left waits for.
std::vector<bool> DependencyGraph::InOrBehindCycles() const {
  std::vector<std::uint32_t> waits_for(first_bit_.size(), 0);
  for (std::size_t node = 0; node < first_bit_.size(); ++node) {
    ForEachNext(node, [&](std::size_t next) { ++waits_for[next]; });
  }
  std::vector<bool> left(first_bit_.size(), true);
  std::vector<std::size_t> open;
  for (std::size_t node = 0; node < first_bit_.size(); ++node) {
    if (waits_for[node] == 0) open.push_back(node);
  }
  std::size_t count = first_bit_.size();
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    left[node] = false;
    --count;
    ForEachNext(node, [&](std::size_t next) {
      if (--waits_for[next] == 0) open.push_back(next);
    });
  }
  if (count == 0) left.clear();
  return left;
}

std::vector<Channel> DependencyGraph::FindCycle() const {
  const std::vector<bool> left = InOrBehindCycles();
  if (left.empty()) return {};
  // The shortest through some of them: those behind all cycles are on none.
  constexpr int kTries = 64;
  std::vector<std::uint32_t> best;
  int tries = 0;
  for (std::size_t node = 0; node < left.size() && (tries < kTries || best.empty()); ++node) {
    if (!left[node]) continue;
    ++tries;
    auto cycle = ShortestCycle(node, left);
    if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
  }
  std::vector<Channel> cycle;
  for (const std::uint32_t node : best) {
    cycle.push_back({LinkId(node / lanes_), static_cast<std::uint8_t>(node % lanes_)});
  }
  return cycle;
}

std::vector<std::uint32_t> DependencyGraph::ShortestCycle(std::size_t start,
                                                          const std::vector<bool>& left) const {
  std::vector<std::uint32_t> before(left.size(), kNone);
  std::deque<std::size_t> open = {start};
  while (!open.empty() && before[start] == kNone) {
    const std::size_t node = open.front();
    open.pop_front();
    ForEachNext(node, [&](std::size_t next) {
      if (!left[next] || before[next] != kNone) return;
      before[next] = static_cast<std::uint32_t>(node);
      open.push_back(next);
    });
  }
  std::vector<std::uint32_t> cycle;
  if (before[start] == kNone) return cycle;
  for (std::uint32_t node = before[start]; node != start; node = before[node]) {
    cycle.push_back(node);
  }
  cycle.push_back(static_cast<std::uint32_t>(start));
  std::ranges::reverse(cycle);
  return cycle;
}

}  // namespace trunkline
