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
  explicit Regularity(const Fabric& fabric) : fabric_(fabric), cables_(CablesByPair(fabric)) {}

  WantedFabric Find() {
    WantedFabric wanted;
    for (const auto& [pair, links] : cables_) wanted.cables[pair] = AsFound(links);
    for (const auto& [tier, up] : Upward()) {
      const std::vector<Peers> groups = GroupPeers(up);
      for (const Peers& peers : groups) WantAlike(peers, wanted);
      wanted.expectation +=
          fmt::format("{}{} in {} of equals, by what most have upwards",
                      wanted.expectation.empty() ? "the regularity of the fabric itself: " : "; ",
                      Plural(up.size(), fmt::format("{} switch", TierName(tier))),
                      groups.size() == 1 ? "one group" : fmt::format("{} groups", groups.size()));
    }
    if (wanted.expectation.empty()) {
      wanted.expectation = "the regularity of the fabric itself: no switch leads up, so only rates";
    }
    WantUsualRates(wanted);
    wanted.of_servers = FindShortServers(fabric_);
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
};

}  // namespace

WantedFabric WantRegularity(const Fabric& found) { return Regularity(found).Find(); }

}  // namespace trunkline
