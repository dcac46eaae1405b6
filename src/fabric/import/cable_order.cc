#include "fabric/import/cable_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

namespace trunkline {
namespace {

// One end of a cable between switches of a tier.
struct SidewaysEnd {
  std::uint64_t device = 0;
  std::uint32_t port = 0;
  std::size_t cable = 0;  // in the order of the file
  auto operator<=>(const SidewaysEnd&) const = default;
};

// The next cable at either end: which must not come before.
using Followers = std::vector<std::vector<std::size_t>>;

Followers FollowersOf(std::span<const CableToLay> cables) {
  std::vector<SidewaysEnd> ends;
  for (std::size_t i = 0; i < cables.size(); ++i) {
    if (!cables[i].sideways) continue;
    ends.push_back({cables[i].low, cables[i].low_port, i});
    ends.push_back({cables[i].high, cables[i].high_port, i});
  }
  std::ranges::sort(ends);
  Followers followers(ends.empty() ? 0 : cables.size());
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i].device == ends[i - 1].device) followers[ends[i - 1].cable].push_back(ends[i].cable);
  }
  return followers;
}

}  // namespace

std::vector<std::size_t> OrderOfCables(std::span<const CableToLay> cables) {
  std::vector<std::size_t> sorted(cables.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::stable_sort(
      sorted, {}, [&](std::size_t i) { return std::tuple(cables[i].low, cables[i].low_port); });
  const Followers followers = FollowersOf(cables);
  if (followers.empty()) return sorted;

  std::vector<std::size_t> place(cables.size());  // in `sorted`
  for (std::size_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
  std::vector<std::uint32_t> waits_for(cables.size(), 0);
  for (const auto& next : followers) {
    for (const std::size_t cable : next) ++waits_for[cable];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;  // places
  for (std::size_t i = 0; i < cables.size(); ++i) {
    if (waits_for[i] == 0) ready.push(place[i]);
  }
  std::vector<std::size_t> order;
  std::vector<bool> laid(cables.size(), false);
  std::size_t first = 0;  // of `sorted`, not laid
  while (order.size() < cables.size()) {
    while (laid[sorted[first]]) ++first;
    const std::size_t at = ready.empty() ? first : ready.top();
    if (!ready.empty()) ready.pop();
    const std::size_t cable = sorted[at];
    if (laid[cable]) continue;
    laid[cable] = true;
    order.push_back(cable);
    for (const std::size_t next : followers[cable]) {
      if (--waits_for[next] == 0 && !laid[next]) ready.push(place[next]);
    }
  }
  return order;
}

}  // namespace trunkline
