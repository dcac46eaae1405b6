#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/plural.h"
#include "fabric/check/servers.h"
#include "fabric/check/wanted.h"
#include "fabric/tier_name.h"

namespace trunkline {
namespace {

// The plan of a fabric is what most of its equal switches do. Where a simple majority could be the
// design of a part, such as slower cables of older servers, this much is asked for: ours, published
// nowhere.
constexpr double kNearlyAll = 0.75;

// Switches of a tier that lead up to the same switches, but for a few cables.
struct Peers {
  std::vector<DeviceId> low;
  std::set<DeviceId> high;  // of the first of them, which has the most
};

using Neighbours = std::map<DeviceId, std::set<DeviceId>>;

// Whether two switches share at least half of what the one with fewer leads to.
bool Alike(const std::set<DeviceId>& a, const std::set<DeviceId>& b) {
  const auto shared = static_cast<std::size_t>(
      std::ranges::count_if(a, [&](DeviceId id) { return b.contains(id); }));
  return 2 * shared >= std::min(a.size(), b.size());
}

std::vector<Peers> GroupPeers(const Neighbours& up) {
  std::vector<const Neighbours::value_type*> order;
  for (const auto& entry : up) order.push_back(&entry);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const auto* entry) { return entry->second.size(); });
  std::vector<Peers> groups;
  for (const auto* entry : order) {
    const auto mine =
        std::ranges::find_if(groups, [&](const Peers& g) { return Alike(g.high, entry->second); });
    if (mine == groups.end()) {
      groups.push_back({{entry->first}, entry->second});
    } else {
      mine->low.push_back(entry->first);
    }
  }
  return groups;
}

class Regularity {
 public:
  explicit Regularity(const Fabric& fabric) : fabric_(fabric), cables_(CablesByPair(fabric)) {
    for (const auto& [pair, links] : cables_) {
      const std::uint32_t node = fabric.device(pair.first).node;
      if (node != Device::kNoNode) leaves_of_node_[node].insert(pair.second);
    }
  }

  WantedFabric Find() {
    WantedFabric wanted;
    for (const auto& [pair, links] : cables_) wanted.cables[pair] = AsFound(links);
    for (const auto& [tier, up] : Upward()) {
      std::vector<Peers> groups = GroupPeers(up);
      AddCutOff(tier, up.size(), groups, wanted);
      std::size_t switches = 0;
      for (const Peers& peers : groups) {
        WantAlike(peers, wanted);
        switches += peers.low.size();
      }
      wanted.expectation +=
          fmt::format("{}{} in {} of equals, by what most have upwards",
                      wanted.expectation.empty() ? "the regularity of the fabric itself: " : "; ",
                      Plural(switches, fmt::format("{} switch", TierName(tier))),
                      groups.size() == 1 ? "one group" : fmt::format("{} groups", groups.size()));
    }
    if (wanted.expectation.empty()) {
      wanted.expectation = "the regularity of the fabric itself: no switch leads up, so only rates";
    }
    WantUsualRates(wanted);
    const std::vector<FabricFinding> of_servers = FindOddServers(fabric_);
    wanted.of_servers.insert(wanted.of_servers.end(), of_servers.begin(), of_servers.end());
    return wanted;
  }

 private:
  [[nodiscard]] WantedCables AsFound(const std::vector<LinkId>& links) const {
    return {static_cast<std::uint32_t>(links.size()), fabric_.link(links.front()).rate};
  }

  [[nodiscard]] std::map<std::uint8_t, Neighbours> Upward() const {
    std::map<std::uint8_t, Neighbours> up;
    for (const auto& [pair, links] : cables_) {
      const std::uint8_t tier = fabric_.device(pair.first).tier;
      if (tier > 0 && fabric_.device(pair.second).tier > tier) {
        up[tier][pair.first].insert(pair.second);
      }
    }
    return up;
  }

  // Switches that lead down and not up are equals of the others of their tier, where most of these
  // lead up. Their group is that of the leaves that their servers are on too, else the only one, or
  // the one that is smaller than the others by them all.
  void AddCutOff(std::uint8_t tier, std::size_t leading_up, std::vector<Peers>& groups,
                 WantedFabric& wanted) const {
    const std::vector<DeviceId> cut_off = CutOff(tier);
    if (cut_off.empty() || cut_off.size() >= leading_up) return;
    for (DeviceId id : cut_off) {
      if (Peers* group = GroupOf(id, cut_off.size(), groups)) {
        group->low.push_back(id);
      } else {
        wanted.of_servers.push_back({.kind = FabricFinding::Kind::kMissingUplinks,
                                     .from = fabric_.name(id),
                                     .expected = UsualUplinks(groups)});
      }
    }
  }

  [[nodiscard]] std::vector<DeviceId> CutOff(std::uint8_t tier) const {
    std::vector<DeviceId> cut_off;
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const auto id = static_cast<DeviceId>(i);
      if (fabric_.device(id).kind != DeviceKind::kSwitch || fabric_.device(id).tier != tier)
        continue;
      const auto out = fabric_.out(id);
      if (!out.empty() && std::ranges::all_of(out, [&](LinkId link) {
            return fabric_.device(fabric_.link(link).to).tier < tier;
          })) {
        cut_off.push_back(id);
      }
    }
    return cut_off;
  }

  [[nodiscard]] Peers* GroupOf(DeviceId id, std::size_t cut_off, std::vector<Peers>& groups) const {
    const std::set<DeviceId> mates = LeavesOfSameServers(id);
    Peers* best = nullptr;
    std::ptrdiff_t most = 0;
    std::map<std::size_t, std::vector<Peers*>> by_size;
    for (Peers& group : groups) {
      by_size[group.low.size()].push_back(&group);
      const auto shared =
          std::ranges::count_if(group.low, [&](DeviceId low) { return mates.contains(low); });
      if (shared > most) {
        most = shared;
        best = &group;
      }
    }
    if (best != nullptr || groups.size() == 1) return best != nullptr ? best : &groups.front();
    const auto& [size, smallest] = *by_size.begin();
    const bool one_is_smaller =
        by_size.size() == 2 && smallest.size() == 1 && size + cut_off == by_size.rbegin()->first;
    return one_is_smaller ? smallest.front() : nullptr;
  }

  // The other switches that servers of a leaf have cables to.
  [[nodiscard]] std::set<DeviceId> LeavesOfSameServers(DeviceId leaf) const {
    std::set<DeviceId> leaves;
    for (LinkId down : fabric_.out(leaf)) {
      const std::uint32_t node = fabric_.device(fabric_.link(down).to).node;
      if (node == Device::kNoNode) continue;
      const auto known = leaves_of_node_.find(node);
      if (known != leaves_of_node_.end()) leaves.insert(known->second.begin(), known->second.end());
    }
    return leaves;
  }

  [[nodiscard]] std::uint32_t UsualUplinks(const std::vector<Peers>& groups) const {
    std::map<std::size_t, std::size_t> counts;
    for (const Peers& group : groups) {
      for (DeviceId low : group.low) {
        ++counts[static_cast<std::size_t>(std::ranges::count_if(fabric_.out(low), [&](LinkId link) {
          return fabric_.device(fabric_.link(link).to).tier > fabric_.device(low).tier;
        }))];
      }
    }
    return static_cast<std::uint32_t>(Mode(counts));
  }

  // Every one of the peers has as many cables to each switch above, where most lead, as most have.
  void WantAlike(const Peers& peers, WantedFabric& wanted) const {
    std::map<DeviceId, std::size_t> users;
    std::map<std::size_t, std::size_t> counts;
    for (DeviceId low : peers.low) {
      for (auto at = cables_.lower_bound({low, DeviceId()});
           at != cables_.end() && at->first.first == low; ++at) {
        if (fabric_.device(at->first.second).tier <= fabric_.device(low).tier) continue;
        ++users[at->first.second];
        ++counts[at->second.size()];
      }
    }
    if (counts.empty()) return;
    const auto usual = static_cast<std::uint32_t>(Mode(counts));
    for (const auto& [high, count] : users) {
      const bool most = 2 * count >= peers.low.size();
      for (DeviceId low : peers.low) {
        if (most || wanted.cables.contains({low, high})) {
          wanted.cables[{low, high}].count = most ? usual : 0;
        }
      }
    }
  }

  // The rate of nearly all cables between two tiers is that of all: some may be slower by design.
  void WantUsualRates(WantedFabric& wanted) const {
    std::map<std::pair<std::uint8_t, std::uint8_t>, std::map<Rate, std::size_t>> rates;
    const auto tiers_of = [&](const DevicePair& pair) {
      return std::pair(fabric_.device(pair.first).tier, fabric_.device(pair.second).tier);
    };
    for (const auto& [pair, links] : cables_) {
      for (LinkId link : links) ++rates[tiers_of(pair)][fabric_.link(link).rate];
    }
    for (auto& [pair, cables] : wanted.cables) {
      const auto& between = rates[tiers_of(pair)];
      const Rate usual = Mode(between);
      double all = 0;
      for (const auto& [rate, count] : between) all += static_cast<double>(count);
      const bool nearly_all = static_cast<double>(between.at(usual)) >= kNearlyAll * all;
      if (nearly_all || cables.rate == Rate()) cables.rate = usual;
    }
  }

  const Fabric& fabric_;
  const std::map<DevicePair, std::vector<LinkId>> cables_;
  std::map<std::uint32_t, std::set<DeviceId>> leaves_of_node_;
};

}  // namespace

WantedFabric WantRegularity(const Fabric& found) { return Regularity(found).Find(); }

}  // namespace trunkline
