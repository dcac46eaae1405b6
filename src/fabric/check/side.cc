#include "fabric/check/side.h"

#include <set>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {}  // namespace

std::vector<bool> FindPeers(const Fabric& fabric) {
  std::vector<bool> peers(fabric.device_count());
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind == LinkKind::kNetwork && IsNetworkEnd(fabric.device(link.from).kind) &&
        IsNetworkEnd(fabric.device(link.to).kind)) {
      peers[Index(link.from)] = true;
    }
  }
  return peers;
}

Side::Side(const Fabric& of, const std::vector<bool>& peers)
    : fabric(of), index(of.device_count(), kNoSwitch) {
  for (std::size_t i = 0; i < of.device_count(); ++i) {
    if (of.device(DeviceId(i)).kind != DeviceKind::kSwitch && !peers[i]) continue;
    index[i] = static_cast<std::uint32_t>(switches.size());
    switches.push_back(DeviceId(i));
  }
  ends.resize(switches.size());
  servers.resize(of.node_count());
  TieMaps tie(switches.size());
  FollowCables(tie);
  ShareServers(tie);
  ShareSwitchesAbove(tie);
  ties.resize(switches.size());
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    for (auto& [to, one] : tie[s]) {
      one.to = to;
      ties[s].push_back(one);
    }
  }
  Colour();
}

int Side::RankOf(std::uint32_t s) const {
  const Device& device = fabric.device(switches[s]);
  return device.kind == DeviceKind::kSwitch ? device.tier : -1;
}

void Side::FollowCables(TieMaps& tie) {
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto id = static_cast<DeviceId>(i);
    const Device& device = fabric.device(id);
    const bool is_switch = index[i] != kNoSwitch;
    if (!IsNetworkEnd(device.kind) && !is_switch) continue;
    for (LinkId link : fabric.out(id)) {
      const std::uint32_t to = index[Index(fabric.link(link).to)];
      if (to == kNoSwitch || fabric.link(link).kind != LinkKind::kNetwork) continue;
      if (is_switch) {
        ++tie[index[i]][to].cables;
      } else {
        ++ends[to];
        leaves[id].push_back(fabric.link(link).to);
      }
    }
    if (!is_switch && leaves.contains(id)) servers[device.node].push_back(id);
  }
}

void Side::ShareServers(TieMaps& tie) const {
  for (const auto& server : servers) {
    std::set<std::uint32_t> at;
    for (DeviceId end : server) {
      for (DeviceId leaf : leaves.at(end)) at.insert(index[Index(leaf)]);
    }
    AddShared(std::vector(at.begin(), at.end()), tie);
  }
}

void Side::ShareSwitchesAbove(TieMaps& tie) const {
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    std::vector<std::uint32_t> below;
    for (const auto& [to, one] : tie[s]) {
      const std::uint8_t tier = fabric.device(switches[to]).tier;
      if (one.cables > 0 && tier > 1 && tier < fabric.device(switches[s]).tier) below.push_back(to);
    }
    AddShared(below, tie);
  }
}

void Side::AddShared(const std::vector<std::uint32_t>& sharers, TieMaps& tie) {
  for (std::uint32_t a : sharers) {
    for (std::uint32_t b : sharers) {
      if (a != b) ++tie[a][b].shared;
    }
  }
}

void Side::Colour() {
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    colours.push_back(HashCombine(ends[s], static_cast<std::uint64_t>(RankOf(s))));
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<std::uint64_t> next(switches.size());
    for (std::uint32_t s = 0; s < switches.size(); ++s) {
      std::uint64_t sum = 0;  // of a multiset, in no order
      for (const Tie& one : ties[s]) {
        sum += HashCombine(colours[one.to], static_cast<std::uint64_t>(one.cables));
      }
      next[s] = HashCombine(colours[s], sum);
    }
    colours = std::move(next);
  }
}

}  // namespace trunkline
