#include "fabric/routing/heights.h"

#include <algorithm>
#include <deque>

namespace trunkline {
namespace {

// Levels below the root of each connected network of switches, which are `switches`.
std::vector<std::uint32_t> Depths(const Fabric& fabric, std::vector<DeviceId> switches) {
  std::ranges::stable_sort(switches, std::ranges::greater(),
                           [&](DeviceId at) { return fabric.out(at).size(); });
  std::vector<std::uint32_t> depth(fabric.device_count(), UINT32_MAX);
  for (const DeviceId root : switches) {
    if (depth[Index(root)] != UINT32_MAX) continue;
    depth[Index(root)] = 0;
    std::deque<DeviceId> open = {root};
    while (!open.empty()) {
      const DeviceId at = open.front();
      open.pop_front();
      for (const LinkId link : fabric.out(at)) {
        const DeviceId to = fabric.link(link).to;
        if (fabric.device(to).kind != DeviceKind::kSwitch || depth[Index(to)] != UINT32_MAX) {
          continue;
        }
        depth[Index(to)] = depth[Index(at)] + 1;
        open.push_back(to);
      }
    }
  }
  return depth;
}

}  // namespace

std::vector<std::uint64_t> SwitchHeights(const Fabric& fabric) {
  std::vector<DeviceId> switches;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind == DeviceKind::kSwitch) switches.push_back(DeviceId(i));
  }
  const auto tier = [&](DeviceId at) { return fabric.device(at).tier; };
  const bool tiers = !switches.empty() && std::ranges::any_of(switches, [&](DeviceId at) {
    return tier(at) != tier(switches.front());
  });
  const std::vector<std::uint32_t> depth =
      tiers ? std::vector<std::uint32_t>() : Depths(fabric, switches);
  std::vector<std::uint64_t> heights(fabric.device_count(), 0);
  for (const DeviceId at : switches) {
    const std::uint32_t level = tiers ? tier(at) : UINT32_MAX - depth[Index(at)];
    heights[Index(at)] = (std::uint64_t{level} << 32) | (UINT32_MAX - Index(at));
  }
  return heights;
}

}  // namespace trunkline
