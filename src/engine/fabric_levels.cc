#include "engine/fabric_levels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/disjoint_sets.h"
#include "engine/alike.h"

namespace trunkline {
namespace {

std::vector<std::uint32_t> Roots(DisjointSets& sets) {
  std::vector<std::uint32_t> roots(sets.count());
  for (std::uint32_t i = 0; i < roots.size(); ++i) roots[i] = sets.Find(i);
  return roots;
}

void UniteNodes(const Fabric& fabric, DisjointSets& sets) {
  std::vector<std::uint32_t> first_of_node;
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    const std::uint32_t node = fabric.device(DeviceId(d)).node;
    if (node == Device::kNoNode) continue;
    if (node >= first_of_node.size()) first_of_node.resize(node + 1, UINT32_MAX);
    if (first_of_node[node] == UINT32_MAX) first_of_node[node] = d;
    sets.Unite(first_of_node[node], d);
  }
}

// `crossing`: the links between blocks of the level before. Those that also cross this level stay:
// blocks only grow.
FabricLevels::Level LevelOf(const std::vector<std::uint32_t>& root_of, const Fabric& fabric,
                            const RouterOptions& options, std::vector<LinkId>& crossing) {
  FabricLevels::Level level;
  std::uint32_t blocks = 0;
  level.block_of = Densely(root_of, root_of.size(), blocks);
  level.egress.resize(blocks);
  level.ingress.resize(blocks);
  std::erase_if(crossing, [&](LinkId id) {
    const Link& link = fabric.link(id);
    const std::uint32_t from = level.block_of[Index(link.from)];
    const std::uint32_t to = level.block_of[Index(link.to)];
    if (from == to) return true;
    const double rate = PayloadRate(link, options);
    level.egress[from] += rate;
    level.ingress[to] += rate;
    return false;
  });
  return level;
}

// Whether no block can send or receive less than what its NICs can, or no block of `whole` has NICs
// in two of them.
bool IsNoCut(const FabricLevels::Level& rails, const FabricLevels::Level& whole,
             const Fabric& fabric, const RouterOptions& options) {
  std::vector<double> out(rails.egress.size());
  std::vector<double> in(rails.egress.size());
  std::vector<std::uint32_t> rail_of_whole(whole.egress.size(), UINT32_MAX);
  bool splits = false;
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    if (!IsNetworkEnd(fabric.device(DeviceId(d)).kind)) continue;
    const std::uint32_t rail = rails.block_of[d];
    std::uint32_t& of_whole = rail_of_whole[whole.block_of[d]];
    splits = splits || (of_whole != UINT32_MAX && of_whole != rail);
    of_whole = rail;
    for (const LinkId id : fabric.out(DeviceId(d))) {
      if (fabric.link(id).kind != LinkKind::kNetwork) continue;
      out[rail] += PayloadRate(fabric.link(id), options);
      in[rail] += PayloadRate(fabric.link(fabric.reverse(id)), options);
    }
  }
  constexpr double kRounding = 1 - 1e-9;
  for (std::size_t rail = 0; splits && rail < out.size(); ++rail) {
    if (rails.egress[rail] < out[rail] * kRounding || rails.ingress[rail] < in[rail] * kRounding) {
      return false;
    }
  }
  return true;
}

// Whether a switch below the top passes up or down less than it has below: else no block is a cut
// that its NICs are not.
bool IsTapered(const Fabric& fabric, std::uint8_t top_tier, const RouterOptions& options) {
  std::vector<double> spare_up(fabric.device_count());
  std::vector<double> spare_down(fabric.device_count());
  for (std::size_t l = 0; l < fabric.link_count(); ++l) {
    const Link& link = fabric.link(LinkId(l));
    if (link.kind != LinkKind::kNetwork) continue;
    const std::uint8_t from = fabric.device(link.from).tier;
    const std::uint8_t to = fabric.device(link.to).tier;
    const double rate = PayloadRate(link, options);
    if (from < to) {
      spare_up[Index(link.from)] += rate;
      spare_up[Index(link.to)] -= rate;
    } else if (from > to) {
      spare_down[Index(link.to)] += rate;
      spare_down[Index(link.from)] -= rate;
    }
  }
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    const Device& device = fabric.device(DeviceId(d));
    if (device.tier == 0 || device.tier == top_tier) continue;
    constexpr double kRounding = -1e-3;  // bytes/s
    if (spare_up[d] < kRounding || spare_down[d] < kRounding) return true;
  }
  return false;
}

void UniteUpTo(std::uint8_t tier, const Fabric& fabric, std::span<const LinkId> links,
               DisjointSets& sets) {
  for (const LinkId id : links) {
    const Link& link = fabric.link(id);
    if (fabric.device(link.from).tier <= tier && fabric.device(link.to).tier <= tier) {
      sets.Unite(static_cast<std::uint32_t>(Index(link.from)),
                 static_cast<std::uint32_t>(Index(link.to)));
    }
  }
}

bool HasCable(const Fabric& fabric, DeviceId id) {
  return std::ranges::any_of(
      fabric.out(id), [&](LinkId link) { return fabric.link(link).kind == LinkKind::kNetwork; });
}

// Whether NICs of the same place in their nodes, of one unit, hang on one rail.
bool PlacesHaveRails(const FabricLevels::Level& rails, const FabricLevels::Level& units,
                     const Fabric& fabric) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> rail_of;  // by unit and place
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    const Device& device = fabric.device(DeviceId(d));
    if (!IsNetworkEnd(device.kind)) continue;
    const auto [known, added] =
        rail_of.try_emplace({units.block_of[d], device.local}, rails.block_of[d]);
    if (known->second != rails.block_of[d]) return false;
  }
  return true;
}

bool AreJoined(const Fabric& fabric, DisjointSets& by_cables) {
  std::optional<std::uint32_t> first;
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    if (!IsNetworkEnd(fabric.device(DeviceId(d)).kind) || !HasCable(fabric, DeviceId(d))) continue;
    const std::uint32_t root = by_cables.Find(d);
    if (first.value_or(root) != root) return false;
    first = root;
  }
  return true;
}

}  // namespace

std::vector<std::uint32_t> Densely(const std::vector<std::uint32_t>& names, std::size_t name_count,
                                   std::uint32_t& count) {
  std::vector<std::uint32_t> number(name_count, UINT32_MAX);
  std::vector<std::uint32_t> dense(names.size());
  count = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::uint32_t& n = number[names[i]];
    if (n == UINT32_MAX) n = count++;
    dense[i] = n;
  }
  return dense;
}

double PayloadRate(const Link& link, const RouterOptions& options) {
  const double rate = link.rate.bytes_per_second();
  if (link.kind != LinkKind::kNetwork) return rate;
  return rate * static_cast<double>(options.payload_bytes) /
         static_cast<double>(options.wire_bytes);
}

FabricLevels::FabricLevels(const Fabric& fabric, const RouterOptions& options)
    : alike(options.gpudirect == GpuDirect::kOn && PairsAreAlike(fabric)) {
  std::uint8_t top_tier = 0;
  nic_numbers.reserve(fabric.device_count());
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    const Device& device = fabric.device(DeviceId(d));
    top_tier = std::max(top_tier, device.tier);
    nic_numbers.push_back(nics);
    if (IsNetworkEnd(device.kind)) ++nics;
  }
  std::vector<LinkId> crossing(fabric.link_count());
  for (std::size_t l = 0; l < crossing.size(); ++l) crossing[l] = LinkId(l);
  DisjointSets sets(fabric.device_count());
  UniteNodes(fabric, sets);
  levels.push_back(LevelOf(Roots(sets), fabric, options, crossing));
  DisjointSets by_cables(fabric.device_count());
  std::vector<LinkId> cables;
  const bool tapered = IsTapered(fabric, top_tier, options);
  const bool several_nics = nics > fabric.node_count();
  std::ranges::copy_if(crossing, std::back_inserter(cables), [&](LinkId id) {
    return (tapered || several_nics) && fabric.link(id).kind == LinkKind::kNetwork;
  });
  for (std::uint8_t tier = 1; tier < top_tier; ++tier) {
    UniteUpTo(tier, fabric, crossing, sets);
    levels.push_back(LevelOf(Roots(sets), fabric, options, crossing));
    if (!tapered) continue;
    UniteUpTo(tier, fabric, cables, by_cables);
    Level rail = LevelOf(Roots(by_cables), fabric, options, cables);
    if (IsNoCut(rail, levels.back(), fabric, options)) continue;
    alike = alike && PlacesHaveRails(rail, levels.back(), fabric);
    rails.push_back(std::move(rail));
  }
  UniteUpTo(top_tier, fabric, cables, by_cables);
  joined = !several_nics || AreJoined(fabric, by_cables);
  // What comes from one rail to another inside a server leaves it by another NIC than its own.
  if (!rails.empty() && !joined) {
    rails.clear();
    leaves_out_rails = true;
  }
}

}  // namespace trunkline
