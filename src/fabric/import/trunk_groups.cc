#include "fabric/import/trunk_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace trunkline {

std::vector<bool> FindDeadEnds(const Joints& cables, const std::vector<bool>& is_end) {
  std::vector<std::set<std::uint32_t>> joined(is_end.size());
  for (const auto& [low, high] : cables) {
    joined[low].insert(high);
    joined[high].insert(low);
  }
  std::vector<bool> dead(is_end.size(), false);
  std::vector<std::uint32_t> next(is_end.size());
  std::iota(next.begin(), next.end(), 0U);
  while (!next.empty()) {
    const std::uint32_t at = next.back();
    next.pop_back();
    if (dead[at] || is_end[at] || joined[at].size() != 1) continue;
    dead[at] = true;
    const std::uint32_t before = *joined[at].begin();
    joined[before].erase(at);
    next.push_back(before);
  }
  return dead;
}

void UniteTwinLeaves(const Joints& cables, DisjointSets& leaves) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_end;
  for (const auto& [end, leaf] : cables) of_end[end].push_back(leaf);
  struct Twins {
    std::vector<std::uint32_t> leaves;  // of the first end that was met; ascending
    bool same = true;                   // for all ends
  };
  std::map<std::uint32_t, Twins> of_leaf;
  for (auto& [end, joined] : of_end) {
    std::ranges::sort(joined);
    for (const std::uint32_t leaf : joined) {
      const auto [known, added] = of_leaf.try_emplace(leaf, Twins{.leaves = joined});
      if (known->second.leaves != joined) known->second.same = false;
    }
  }
  for (const auto& [leaf, twins] : of_leaf) {
    const bool all_same = std::ranges::all_of(
        twins.leaves, [&](std::uint32_t twin) { return of_leaf.at(twin).same; });
    if (!all_same) continue;
    for (const std::uint32_t twin : twins.leaves) leaves.Unite(leaf, twin);
  }
}

}  // namespace trunkline
