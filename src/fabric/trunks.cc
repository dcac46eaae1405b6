#include "fabric/trunks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/none.h"

namespace trunkline {
namespace {
bool LeadsUp(const Fabric& fabric, const Link& link) {
  return fabric.device(link.from).tier < fabric.device(link.to).tier;
}

// The upper end of each link, in order.
std::vector<DeviceId> UpperEnds(const Fabric& fabric, std::span<const LinkId> links) {
  std::vector<DeviceId> ends;
  ends.reserve(links.size());
  for (const LinkId id : links) {
    const Link& link = fabric.link(id);
    ends.push_back(LeadsUp(fabric, link) ? link.to : link.from);
  }
  if (!std::ranges::is_sorted(ends)) std::ranges::sort(ends);
  return ends;
}

// The links of every trunk, then each link between tiers of switches that is in none, alone: an
// imported switch with one cable up has no trunk.
std::vector<std::vector<LinkId>> Bundles(const Fabric& fabric) {
  std::vector<std::vector<LinkId>> bundles;
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    const auto links = fabric.trunk_links(trunk);
    bundles.emplace_back(links.begin(), links.end());
  }
  for (std::size_t l = 0; l < fabric.link_count() && !bundles.empty(); ++l) {
    const Link& link = fabric.link(LinkId(l));
    const Device& from = fabric.device(link.from);
    const Device& to = fabric.device(link.to);
    const bool between_switches =
        from.kind == DeviceKind::kSwitch && to.kind == DeviceKind::kSwitch;
    if (link.trunk == Link::kNoTrunk && between_switches && from.tier != to.tier) {
      bundles.push_back({LinkId(l)});
    }
  }
  return bundles;
}

std::vector<std::uint32_t> CountCablesUp(const Fabric& fabric,
                                         std::span<const std::vector<LinkId>> bundles) {
  std::vector<std::uint32_t> cables(fabric.device_count(), 0);
  for (const std::vector<LinkId>& bundle : bundles) {
    for (const LinkId id : bundle) {
      const Link& link = fabric.link(id);
      if (LeadsUp(fabric, link)) ++cables[Index(link.from)];
    }
  }
  return cables;
}

}  // namespace

std::vector<bool> FindWholeTrunks(const Fabric& fabric) {
  const std::vector<std::vector<LinkId>> bundles = Bundles(fabric);
  const std::vector<std::uint32_t> cables_up = CountCablesUp(fabric, bundles);
  // By upper end, of the bundles that lead down from it and up to it: the first, and whether
  // another has other cables.
  struct Met {
    std::uint32_t first = kNone;
    bool differs = false;
  };
  std::vector<std::array<Met, 2>> met(fabric.device_count());
  std::vector<std::vector<DeviceId>> ends;
  for (std::uint32_t bundle = 0; bundle < bundles.size(); ++bundle) {
    ends.push_back(UpperEnds(fabric, bundles[bundle]));
    const bool up = LeadsUp(fabric, fabric.link(bundles[bundle].front()));
    const bool even = std::ranges::all_of(ends.back(), [&](DeviceId end) {
      return cables_up[Index(end)] == cables_up[Index(ends.back().front())];
    });
    std::uint32_t compared = bundle;
    bool differs = !even;
    for (const DeviceId end : ends.back()) {
      Met& here = met[Index(end)][up ? 1 : 0];
      if (here.first == kNone) here.first = bundle;
      if (here.first != compared) {
        compared = here.first;
        differs = !even || ends[compared] != ends.back();
      }
      here.differs = here.differs || differs;
    }
  }
  std::vector<bool> whole;
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    const bool up = LeadsUp(fabric, fabric.link(fabric.trunk_links(trunk).front()));
    whole.push_back(std::ranges::none_of(
        ends[trunk], [&](DeviceId end) { return met[Index(end)][up ? 1 : 0].differs; }));
  }
  return whole;
}

bool TrunksAreWhole(const Fabric& fabric) {
  return std::ranges::all_of(FindWholeTrunks(fabric), [](bool whole) { return whole; });
}

bool TrunksAreEven(const Fabric& fabric) {
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    const auto links = fabric.trunk_links(trunk);
    const Rate first = fabric.link(links.front()).rate;
    if (std::ranges::any_of(links, [&](LinkId id) { return fabric.link(id).rate != first; })) {
      return false;
    }
  }
  return true;
}

}  // namespace trunkline
