#include "fabric/leaf_cuts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

// Beyond as many leaves that bind, no two of them are looked at together: cuts would be thousands.
constexpr std::size_t kMostPaired = 32;

using Rates = std::vector<Int128>;  // by spine, in bit/s

class CutFinder {
 public:
  CutFinder(const Fabric& fabric, DeviceId leaf, CutSide side);

  std::vector<LeafCut> Find();

 private:
  // Another leaf that the same spines lead to.
  struct Other {
    DeviceId leaf{};
    Rates rates;        // no more than own_
    Int128 cables = 0;  // what its cables to those spines carry
  };

  [[nodiscard]] bool LeadsUp(const Link& link) const {
    const Device& from = fabric_.device(link.from);
    const Device& to = fabric_.device(link.to);
    return from.kind == DeviceKind::kSwitch && to.kind == DeviceKind::kSwitch &&
           from.tier < to.tier;
  }
  // The rate of a cable in the direction that flows take, given its link away from the leaf.
  [[nodiscard]] Int128 RateOf(LinkId away) const {
    const LinkId link = side_ == CutSide::kUp ? away : fabric_.reverse(away);
    return fabric_.link(link).rate.bits_per_second();
  }
  [[nodiscard]] Int128 CapacityOf(const Rates& rates) const;
  // Whether they are of some spines all that the leaf's cables carry, and nothing of others.
  [[nodiscard]] bool Fills(const Rates& rates) const {
    return std::ranges::equal(rates, own_,
                              [](Int128 rate, Int128 own) { return rate == 0 || rate == own; });
  }
  [[nodiscard]] Rates Sum(const Rates& a, const Rates& b) const;
  // Of the leaves with these rates together, and all that add nothing to them.
  void Add(const Rates& rates, std::vector<DeviceId> leaves);
  void AddPairs(const std::vector<const Other*>& binding);

  const Fabric& fabric_;
  CutSide side_;
  Rates own_;
  Int128 all_ = 0;
  std::vector<Other> others_;
  std::map<std::vector<DeviceId>, Int128> cuts_;
};

CutFinder::CutFinder(const Fabric& fabric, DeviceId leaf, CutSide side)
    : fabric_(fabric), side_(side) {
  std::map<DeviceId, std::size_t> spines;
  for (const LinkId up : fabric.out(leaf)) {
    const Link& link = fabric.link(up);
    if (!LeadsUp(link)) continue;
    const auto [spine, added] = spines.try_emplace(link.to, own_.size());
    if (added) own_.push_back(0);
    own_[spine->second] += RateOf(up);
    all_ += RateOf(up);
  }
  std::map<DeviceId, std::size_t> known;
  for (const auto& [spine, index] : spines) {
    for (const LinkId down : fabric.out(spine)) {
      const Link& link = fabric.link(down);
      if (!LeadsUp(fabric.link(fabric.reverse(down))) || link.to == leaf) continue;
      const auto [other, added] = known.try_emplace(link.to, others_.size());
      if (added) others_.push_back({.leaf = link.to, .rates = Rates(own_.size(), 0)});
      others_[other->second].rates[index] += RateOf(down);
      others_[other->second].cables += RateOf(down);
    }
  }
  for (Other& other : others_) {
    for (std::size_t s = 0; s < own_.size(); ++s) {
      other.rates[s] = std::min(other.rates[s], own_[s]);
    }
  }
  std::ranges::sort(others_, {}, &Other::leaf);
}

Int128 CutFinder::CapacityOf(const Rates& rates) const {
  Int128 sum = 0;
  for (std::size_t s = 0; s < own_.size(); ++s) sum += std::min(own_[s], rates[s]);
  return sum;
}

Rates CutFinder::Sum(const Rates& a, const Rates& b) const {
  Rates sum = a;
  for (std::size_t s = 0; s < sum.size(); ++s) sum[s] = std::min(own_[s], sum[s] + b[s]);
  return sum;
}

void CutFinder::Add(const Rates& rates, std::vector<DeviceId> leaves) {
  const std::vector<DeviceId> first = leaves;
  // A part of the trunk says as much, where it is of the same links for all.
  bool is_part = first.size() == 1 && Fills(rates);
  for (const Other& other : others_) {
    if (std::ranges::find(first, other.leaf) != first.end()) continue;
    bool adds = false;
    for (std::size_t s = 0; s < own_.size() && !adds; ++s) {
      adds = other.rates[s] > 0 && rates[s] < own_[s];
    }
    if (adds) continue;
    leaves.push_back(other.leaf);
    is_part = is_part && other.rates == rates;
  }
  if (is_part) return;
  const Int128 capacity = CapacityOf(rates);
  if (leaves.size() == 1) {  // what leads to that leaf may say as much
    const auto other = std::ranges::find(others_, leaves.front(), &Other::leaf);
    if (other->cables == capacity) return;
  }
  std::ranges::sort(leaves);
  cuts_.try_emplace(std::move(leaves), capacity);
}

void CutFinder::AddPairs(const std::vector<const Other*>& binding) {
  for (std::size_t i = 0; i < binding.size(); ++i) {
    for (std::size_t j = i + 1; j < binding.size(); ++j) {
      const Other& a = *binding[i];
      const Other& b = *binding[j];
      const Rates both = Sum(a.rates, b.rates);
      const Int128 capacity = CapacityOf(both);
      // Two that share nothing are bound by their own cuts.
      if (capacity < all_ && capacity < CapacityOf(a.rates) + CapacityOf(b.rates)) {
        Add(both, {a.leaf, b.leaf});
      }
    }
  }
}

std::vector<LeafCut> CutFinder::Find() {
  std::vector<const Other*> binding;
  std::set<Rates> known;  // of leaves that have all of the cables of each of their spines
  Rates together(own_.size(), 0);
  std::vector<DeviceId> leaves;
  for (const Other& other : others_) {
    together = Sum(together, other.rates);
    leaves.push_back(other.leaf);
    if (CapacityOf(other.rates) == all_) continue;
    if (Fills(other.rates) && !known.insert(other.rates).second) continue;
    binding.push_back(&other);
    Add(other.rates, {other.leaf});
  }
  if (binding.size() <= kMostPaired) AddPairs(binding);
  if (leaves.size() > 1 && CapacityOf(together) < all_) {
    cuts_.try_emplace(std::move(leaves), CapacityOf(together));
  }
  std::vector<LeafCut> cuts;
  for (const auto& [others, capacity] : cuts_) {
    const Int128 bits = std::min<Int128>(capacity, INT64_MAX);
    cuts.push_back({others, Rate::BitsPerSecond(static_cast<std::int64_t>(bits))});
  }
  return cuts;
}

}  // namespace

std::vector<LeafCut> FindLeafCuts(const Fabric& fabric, DeviceId leaf, CutSide side) {
  return CutFinder(fabric, leaf, side).Find();
}

}  // namespace trunkline
