#include "engine/cuts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

bool IsEndpoint(const Fabric& fabric, DeviceId id) {
  const DeviceKind kind = fabric.device(id).kind;
  return kind == DeviceKind::kGpu || kind == DeviceKind::kHost;
}

// What leaves a block first leaves one of its parts.
void NarrowToInner(const Partition& inner, Partition& outer) {
  std::vector<double> egress(outer.parts());
  std::vector<double> ingress(outer.parts());
  std::vector<char> counted(inner.parts());
  for (std::size_t i = 0; i < inner.part_of.size(); ++i) {
    const std::uint32_t part = inner.part_of[i];
    if (std::exchange(counted[part], 1) != 0) continue;
    egress[outer.part_of[i]] += inner.egress[part];
    ingress[outer.part_of[i]] += inner.ingress[part];
  }
  for (std::uint32_t part = 0; part < outer.parts(); ++part) {
    outer.egress[part] = std::min(outer.egress[part], egress[part]);
    outer.ingress[part] = std::min(outer.ingress[part], ingress[part]);
  }
  outer.crossing = inner.crossing;
}

}  // namespace

FabricCuts::FabricCuts(const Router& router, FabricLevels blocks)
    : router_(&router), blocks_(std::move(blocks)) {}

// An endpoint sends over all its links, except that a group within one node stays on the scale-up
// links where every member has them (route.h).
Partition FabricCuts::Endpoints(const std::vector<DeviceId>& members) const {
  const Fabric& fabric = router_->fabric();
  const std::vector<std::uint32_t>& node_of = blocks_.levels.front().block_of;
  const bool one_node = std::ranges::all_of(
      members, [&](DeviceId m) { return node_of[Index(m)] == node_of[Index(members.front())]; });
  const bool scale_up_only = one_node && std::ranges::all_of(members, [&](DeviceId m) {
                               return std::ranges::any_of(fabric.out(m), [&](LinkId id) {
                                 return IsScaleUp(fabric.link(id).kind);
                               });
                             });

  Partition partition;
  partition.part_of.resize(members.size());
  std::iota(partition.part_of.begin(), partition.part_of.end(), 0U);
  partition.size.assign(members.size(), 1);
  partition.egress.resize(members.size());
  partition.ingress.resize(members.size());
  // A path leaves one endpoint and enters another, by two links or by one direct link.
  Time crossing = Time::Max();
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const LinkId id : fabric.out(members[i])) {
      const Link& link = fabric.link(id);
      if (scale_up_only && !IsScaleUp(link.kind)) continue;
      partition.egress[i] += PayloadRate(link, router_->options());
      partition.ingress[i] += PayloadRate(fabric.link(fabric.reverse(id)), router_->options());
      const bool direct = IsEndpoint(fabric, link.to);
      crossing = std::min(crossing, direct ? link.latency : link.latency * 2);
    }
  }
  if (crossing != Time::Max()) partition.crossing = crossing;
  return partition;
}

Partition FabricCuts::Blocks(const FabricLevels::Level& blocks, const std::vector<DeviceId>& places,
                             const std::vector<std::uint32_t>* ranks_of_block) const {
  std::vector<std::uint32_t> block(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) block[i] = blocks.block_of[Index(places[i])];
  std::uint32_t parts = 0;
  Partition partition;
  partition.part_of = Densely(block, blocks.egress.size(), parts);
  partition.size.resize(parts);
  for (const std::uint32_t part : partition.part_of) ++partition.size[part];
  partition.egress.resize(parts);
  partition.ingress.resize(parts);
  partition.between_nodes = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint32_t part = partition.part_of[i];
    const double share = ranks_of_block == nullptr
                             ? 1.0
                             : static_cast<double>(partition.size[part]) /
                                   static_cast<double>((*ranks_of_block)[block[i]]);
    partition.egress[part] = blocks.egress[block[i]] * share;
    partition.ingress[part] = blocks.ingress[block[i]] * share;
  }
  return partition;
}

// A group that lives on some GPUs of its nodes has only their NICs (route.h: the NIC nearest to the
// GPU); to send where rails are not joined, all NICs of its nodes. A path between nodes takes a bus
// to a NIC and a cable from it, at both ends.
Result<void> FabricCuts::NarrowToUsedNics(const std::vector<DeviceId>& members, const CutLoad* load,
                                          Partition& nodes) const {
  const Fabric& fabric = router_->fabric();
  std::vector<std::pair<DeviceId, std::uint32_t>> users;  // (NIC or host, part)
  users.reserve(members.size());
  Time least_bus = Time::Max();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto nic = router_->nic(members[i]);
    if (!nic) return std::unexpected(nic.error());
    users.emplace_back(*nic, nodes.part_of[i]);
    for (const LinkId id : fabric.out(members[i])) {
      if (*nic == members[i]) least_bus = Time();
      if (!IsScaleUp(fabric.link(id).kind)) {
        least_bus = std::min(least_bus, fabric.link(id).latency);
      }
    }
  }
  if (!std::ranges::is_sorted(users)) std::ranges::sort(users);

  if (blocks_.joined) std::ranges::fill(nodes.egress, 0.0);
  std::ranges::fill(nodes.ingress, 0.0);
  Time least_cable = Time::Max();
  for (std::size_t i = 0; i < users.size();) {
    const auto [nic, part] = users[i];
    const std::size_t first = i;
    while (i < users.size() && users[i].first == nic) ++i;
    const double share =
        load == nullptr
            ? 1.0
            : static_cast<double>(i - first) /
                  static_cast<double>(load->ranks_of_nic[blocks_.nic_numbers[Index(nic)]]);
    const Capacity capacity = NetworkCapacity(nic);
    if (blocks_.joined) nodes.egress[part] += capacity.out * share;
    nodes.ingress[part] += capacity.in * share;
    for (const LinkId id : fabric.out(nic)) {
      const Link& link = fabric.link(id);
      if (link.kind != LinkKind::kNetwork) continue;
      const Device& to = fabric.device(link.to);
      const bool direct = to.kind != DeviceKind::kSwitch;
      least_cable = std::min(least_cable, direct ? link.latency : link.latency * 2 + to.latency);
    }
  }
  if (least_cable != Time::Max()) nodes.crossing = least_bus * 2 + least_cable;
  return {};
}

FabricCuts::Capacity FabricCuts::NetworkCapacity(DeviceId nic) const {
  const Fabric& fabric = router_->fabric();
  Capacity capacity;
  for (const LinkId id : fabric.out(nic)) {
    if (fabric.link(id).kind != LinkKind::kNetwork) continue;
    capacity.out += PayloadRate(fabric.link(id), router_->options());
    capacity.in += PayloadRate(fabric.link(fabric.reverse(id)), router_->options());
  }
  return capacity;
}

// Nodes are alike, so that two members lie as two others do whose devices are as far apart.
std::uint64_t FabricCuts::PatternOf(const std::vector<DeviceId>& members,
                                    const CutLoad& load) const {
  const DeviceId first = members.front();
  std::uint64_t pattern = HashCombine(load.evenness, router_->fabric().device(first).local);
  const auto add = [&pattern](std::uint64_t value) { pattern = HashCombine(pattern, value); };
  for (const DeviceId member : members) add(std::uint64_t{Index(member)} - Index(first));
  for (std::size_t level = 1; level < blocks_.levels.size(); ++level) {
    const std::vector<std::uint32_t>& block_of = blocks_.levels[level].block_of;
    const std::uint64_t first_block = block_of[Index(first)];
    for (const DeviceId member : members) add(block_of[Index(member)] - first_block);
  }
  // Alike nodes of one unit have their NICs on the same rails.
  if (load.evenness != 0) return pattern;
  const auto add_block = [&](const FabricLevels::Level& level,
                             const std::vector<std::uint32_t>& ranks, DeviceId place) {
    const std::uint32_t block = level.block_of[Index(place)];
    add(ranks[block]);
    add(std::bit_cast<std::uint64_t>(level.egress[block]));
    add(std::bit_cast<std::uint64_t>(level.ingress[block]));
  };
  for (const DeviceId member : members) {
    for (std::size_t l = 0; l < blocks_.levels.size(); ++l) {
      add_block(blocks_.levels[l], load.ranks_of_block[l], member);
    }
    const auto nic = router_->nic(member);
    if (!nic) continue;
    add(load.ranks_of_nic[blocks_.nic_numbers[Index(*nic)]]);
    for (std::size_t l = 0; l < blocks_.rails.size(); ++l) {
      add_block(blocks_.rails[l], load.ranks_of_rail[l], *nic);
    }
  }
  return pattern;
}

std::uint64_t FabricCuts::EvennessOf(const CutLoad& load) const {
  std::uint64_t name = 1;
  const auto add = [&name](std::uint64_t value) { name = HashCombine(name, value); };
  const auto add_level = [&](const FabricLevels::Level& level,
                             const std::vector<std::uint32_t>& ranks) {
    std::optional<std::size_t> first;
    for (std::size_t block = 0; block < level.egress.size(); ++block) {
      if (ranks[block] == 0) continue;
      if (!first) first = block;
      if (ranks[block] != ranks[*first] || level.egress[block] != level.egress[*first] ||
          level.ingress[block] != level.ingress[*first]) {
        return false;
      }
    }
    if (!first) return true;
    add(ranks[*first]);
    add(std::bit_cast<std::uint64_t>(level.egress[*first]));
    add(std::bit_cast<std::uint64_t>(level.ingress[*first]));
    return true;
  };
  for (std::size_t l = 0; l < blocks_.levels.size(); ++l) {
    if (!add_level(blocks_.levels[l], load.ranks_of_block[l])) return 0;
  }
  for (std::size_t l = 0; l < blocks_.rails.size(); ++l) {
    if (!add_level(blocks_.rails[l], load.ranks_of_rail[l])) return 0;
  }
  std::uint32_t of_nic = 0;
  for (const std::uint32_t ranks : load.ranks_of_nic) {
    if (ranks > 0 && of_nic > 0 && ranks != of_nic) return 0;
    of_nic = std::max(of_nic, ranks);
  }
  add(of_nic);
  return name;
}

std::size_t FabricCuts::LevelsBetween(DeviceId a, DeviceId b) const {
  std::size_t level = 0;
  while (level < blocks_.levels.size() &&
         blocks_.levels[level].block_of[Index(a)] != blocks_.levels[level].block_of[Index(b)]) {
    ++level;
  }
  return level;
}

double FabricCuts::FairRate(DeviceId from, const CutLoad& senders, DeviceId to,
                            const CutLoad& receivers) const {
  double rate = HUGE_VAL;
  const auto narrow = [&rate](double capacity, std::uint32_t ranks) {
    if (ranks > 0) rate = std::min(rate, capacity / ranks);
  };
  if (blocks_.levels.front().block_of[Index(from)] == blocks_.levels.front().block_of[Index(to)])
    return rate;
  const auto source = router_->nic(from);
  const auto sink = router_->nic(to);
  if (source) {
    narrow(NetworkCapacity(*source).out, senders.ranks_of_nic[blocks_.nic_numbers[Index(*source)]]);
  }
  if (sink) {
    narrow(NetworkCapacity(*sink).in, receivers.ranks_of_nic[blocks_.nic_numbers[Index(*sink)]]);
  }
  for (std::size_t level = 0; source && sink && level < blocks_.rails.size(); ++level) {
    const std::uint32_t out = blocks_.rails[level].block_of[Index(*source)];
    const std::uint32_t in = blocks_.rails[level].block_of[Index(*sink)];
    if (out == in) break;
    narrow(blocks_.rails[level].egress[out], senders.ranks_of_rail[level][out]);
    narrow(blocks_.rails[level].ingress[in], receivers.ranks_of_rail[level][in]);
  }
  for (std::size_t level = 0; level < blocks_.levels.size(); ++level) {
    const std::uint32_t out = blocks_.levels[level].block_of[Index(from)];
    const std::uint32_t in = blocks_.levels[level].block_of[Index(to)];
    if (out == in) break;
    narrow(blocks_.levels[level].egress[out], senders.ranks_of_block[level][out]);
    narrow(blocks_.levels[level].ingress[in], receivers.ranks_of_block[level][in]);
  }
  return rate;
}

CutLoad FabricCuts::LoadOf(const std::vector<DeviceId>& endpoints) const {
  CutLoad load;
  for (const FabricLevels::Level& level : blocks_.levels) {
    std::vector<std::uint32_t>& ranks = load.ranks_of_block.emplace_back(level.egress.size());
    for (const DeviceId endpoint : endpoints) ++ranks[level.block_of[Index(endpoint)]];
  }
  for (const FabricLevels::Level& rail : blocks_.rails) {
    load.ranks_of_rail.emplace_back(rail.egress.size());
  }
  load.ranks_of_nic.resize(blocks_.nics);
  for (const DeviceId endpoint : endpoints) {
    const auto nic = router_->nic(endpoint);
    if (!nic) continue;
    ++load.ranks_of_nic[blocks_.nic_numbers[Index(*nic)]];
    for (std::size_t level = 0; level < blocks_.rails.size(); ++level) {
      ++load.ranks_of_rail[level][blocks_.rails[level].block_of[Index(*nic)]];
    }
  }
  load.evenness = EvennessOf(load);
  return load;
}

std::vector<Partition> FabricCuts::RailsOf(const std::vector<DeviceId>& members,
                                           const CutLoad* load) const {
  std::vector<Partition> partitions;
  if (blocks_.rails.empty()) return partitions;
  std::vector<DeviceId> nics;
  nics.reserve(members.size());
  for (const DeviceId member : members) nics.push_back(router_->nic(member).value());
  for (std::size_t level = 0; level < blocks_.rails.size(); ++level) {
    partitions.push_back(Blocks(blocks_.rails[level], nics,
                                load == nullptr ? nullptr : &load->ranks_of_rail[level]));
  }
  return partitions;
}

Result<std::vector<Partition>> FabricCuts::PartitionsOf(const std::vector<DeviceId>& members,
                                                        const CutLoad* load) const {
  std::vector<Partition> partitions;
  if (members.size() < 2) return partitions;
  partitions.push_back(Endpoints(members));
  for (std::size_t level = 0; level < blocks_.levels.size(); ++level) {
    Partition partition = Blocks(blocks_.levels[level], members,
                                 load == nullptr ? nullptr : &load->ranks_of_block[level]);
    if (partition.parts() < 2) break;
    if (level == 0) {
      if (auto narrowed = NarrowToUsedNics(members, load, partition); !narrowed) {
        return std::unexpected(narrowed.error());
      }
    } else {
      NarrowToInner(partitions.back(), partition);
    }
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace trunkline
