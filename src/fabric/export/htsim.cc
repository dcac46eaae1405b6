#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/disjoint_sets.h"
#include "fabric/export/writer.h"

// htsim's .topo, which has words for whole fat trees of two or three tiers alone.
namespace trunkline {
namespace {

// What all devices of a level have in common: ends are level 0, leaves 1.
struct Level {
  std::uint32_t down = 0;  // cables of a device
  std::uint32_t up = 0;
  std::uint32_t bundle = 0;  // cables between a device and one below it
  Rate rate;                 // of cables downwards
  Time latency;
  Time forwarding;
};

class HtsimShape {
 public:
  explicit HtsimShape(const CableList& list) : list_(list), level_(list.devices.size(), kUnknown) {}

  Result<std::string> Write() {
    if (FindLevels() && CompareCables() && CompareDevices() && FindPods()) return Text();
    return CannotWrite("htsim", why_, "csv or ns3 hold every network");
  }

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Cables away from the ends.
  bool FindLevels() {
    std::vector<std::vector<std::uint32_t>> neighbours(list_.devices.size());
    for (const CableList::Cable& cable : list_.cables) {
      neighbours[cable.a.device].push_back(cable.b.device);
      neighbours[cable.b.device].push_back(cable.a.device);
    }
    std::vector<std::uint32_t> open;
    for (std::uint32_t d = 0; d < list_.devices.size(); ++d) {
      if (list_.devices[d].kind == DeviceKind::kSwitch) continue;
      level_[d] = 0;
      open.push_back(d);
      if (neighbours[d].size() != 1) return Refuse("an end has more cables than one, or none");
    }
    ends_ = open.size();
    for (std::size_t head = 0; head < open.size(); ++head) {
      for (const std::uint32_t to : neighbours[open[head]]) {
        if (level_[to] != kUnknown) continue;
        level_[to] = level_[open[head]] + 1;
        open.push_back(to);
      }
    }
    if (open.size() < list_.devices.size()) return Refuse("switches lead to no end");
    tiers_ = *std::ranges::max_element(level_);
    return (tiers_ == 2 || tiers_ == 3) || Refuse(fmt::format("{} tiers of switches", tiers_));
  }

  // Every cable leads one level up, and those of a level are alike.
  bool CompareCables() {
    std::array<bool, 4> known{};
    for (const CableList::Cable& cable : list_.cables) {
      auto [low, high] = std::pair(cable.a.device, cable.b.device);
      if (level_[low] > level_[high]) std::swap(low, high);
      if (level_[high] != level_[low] + 1) return Refuse("cables between switches of one tier");
      Level& level = levels_[level_[high]];
      if (!std::exchange(known[level_[high]], true)) {
        level.rate = *cable.rate;
        level.latency = *cable.latency;
      }
      if (level.rate != *cable.rate || level.latency != *cable.latency) {
        return Refuse(fmt::format("cables of tier {} differ", level_[high] - 1));
      }
      ++cables_[{low, high}];
    }
    return true;
  }

  // So are the devices of a level.
  bool CompareDevices() {
    std::vector<std::uint32_t> down(level_.size(), 0);
    std::vector<std::uint32_t> up(level_.size(), 0);
    for (const auto& [pair, count] : cables_) {
      up[pair.first] += count;
      down[pair.second] += count;
      Level& level = levels_[level_[pair.second]];
      if (level.bundle == 0) level.bundle = count;
      if (level.bundle != count) return Refuse("more cables to one switch than to another");
    }
    std::array<bool, 4> known{};
    for (std::uint32_t d = 0; d < level_.size(); ++d) {
      Level& level = levels_[level_[d]];
      const Time forwarding = list_.devices[d].latency.value_or(Time());
      if (!std::exchange(known[level_[d]], true)) {
        level.down = down[d];
        level.up = up[d];
        level.forwarding = forwarding;
      }
      if (level.down != down[d] || level.up != up[d] || level.forwarding != forwarding) {
        return Refuse(fmt::format("switches of tier {} differ", level_[d] - 1));
      }
    }
    return true;
  }

  // Leaves and spines that are joined below the cores: each leaf to each spine, and the spines of
  // all pods to the same cores in groups of one spine a pod.
  bool FindPods() {
    DisjointSets sets(level_.size());
    for (const auto& [pair, count] : cables_) {
      if (level_[pair.second] <= 2) sets.Unite(pair.first, pair.second);
    }
    std::map<std::uint32_t, std::array<std::uint32_t, 4>> pods;  // devices of each level
    for (std::uint32_t d = 0; d < level_.size(); ++d) {
      if (level_[d] <= 2) ++pods[sets.Find(d)][level_[d]];
    }
    pods_ = pods.size();
    const auto& first = pods.begin()->second;
    for (const auto& [root, pod] : pods) {
      if (pod != first) return Refuse("pods of different sizes");
    }
    if (first[2] * levels_[2].bundle != levels_[1].up ||
        first[1] * levels_[2].bundle != levels_[2].down) {
      return Refuse("leaves that lead to some spines of their pod alone");
    }
    return tiers_ == 2 ? pods_ == 1 || Refuse("networks that nothing joins") : CompareCores(sets);
  }

  bool CompareCores(DisjointSets& sets) {
    std::map<std::uint32_t, std::set<std::uint32_t>> cores;  // of each spine
    for (const auto& [pair, count] : cables_) {
      if (level_[pair.second] == 3) cores[pair.first].insert(pair.second);
    }
    std::map<std::set<std::uint32_t>, std::set<std::uint32_t>> pods_of_group;
    std::map<std::uint32_t, const std::set<std::uint32_t>*> group_of_core;
    for (const auto& [spine, its] : cores) {
      const auto group = pods_of_group.try_emplace(its).first;
      if (!group->second.insert(sets.Find(spine)).second) {
        return Refuse("two spines of a pod on the same cores");
      }
      for (const std::uint32_t core : its) {
        if (group_of_core.try_emplace(core, &group->first).first->second != &group->first) {
          return Refuse("spines that share some of their cores");
        }
      }
    }
    const bool all = std::ranges::all_of(
        pods_of_group, [&](const auto& group) { return group.second.size() == pods_; });
    return all || Refuse("cores that do not reach every pod");
  }

  Result<std::string> Text() {
    constexpr std::int64_t kGbps = 1'000'000'000;
    std::string text =
        fmt::format("Nodes {}\nTiers {}\nPodsize {}\n", ends_, tiers_, ends_ / pods_);
    for (std::uint32_t tier = 0; tier < tiers_; ++tier) {
      const Level& level = levels_[tier + 1];
      if (level.rate.bits_per_second() % kGbps != 0 || level.latency.ps() % 1000 != 0 ||
          level.forwarding.ps() % 1000 != 0) {
        return CannotWrite("htsim",
                           fmt::format("{}, {} and {} in whole Gb/s and ns", ToString(level.rate),
                                       ToString(level.latency), ToString(level.forwarding)),
                           "csv or ns3 hold any");
      }
      text += fmt::format("\nTier {}\nDownlink_speed_Gbps {}\nRadix_Down {}\n", tier,
                          level.rate.bits_per_second() / kGbps, level.down);
      if (tier + 1 < tiers_) text += fmt::format("Radix_Up {}\n", level.up);
      text += fmt::format("Downlink_Latency_ns {}\nSwitch_Latency_ns {}\n",
                          level.latency.ps() / 1000, level.forwarding.ps() / 1000);
      if (tier > 0) text += fmt::format("Bundle {}\n", level.bundle);
    }
    return text;
  }

  const CableList& list_;
  std::vector<std::uint32_t> level_;  // by device
  std::array<Level, 4> levels_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cables_;  // from low to high
  std::uint32_t tiers_ = 0;
  std::size_t ends_ = 0;
  std::size_t pods_ = 0;
  std::string why_;
};

}  // namespace

const FabricFileWriter& HtsimWriter() {
  static const FabricFileWriter writer = {
      "htsim", "htsim's .topo of a fat tree",
      [](const CableList& list) { return HtsimShape(list).Write(); }};
  return writer;
}

}  // namespace trunkline
