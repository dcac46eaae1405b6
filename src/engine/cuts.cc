#include "engine/cuts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/disjoint_sets.h"
#include "engine/alike.h"
#include "trunkline/base/random.h"

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

bool IsEndpoint(const Fabric& fabric, DeviceId id) {
  const DeviceKind kind = fabric.device(id).kind;
  return kind == DeviceKind::kGpu || kind == DeviceKind::kHost;
}

// Renumbers arbitrary block names as 0, 1, … in order of first appearance.
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

double PayloadRate(const Link& link, const RouterOptions& options) {
  const double rate = link.rate.bytes_per_second();
  if (link.kind != LinkKind::kNetwork) return rate;
  return rate * static_cast<double>(options.payload_bytes) /
         static_cast<double>(options.wire_bytes);
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

}  // namespace

FabricLevels::FabricLevels(const Fabric& fabric, const RouterOptions& options)
    : alike(options.gpudirect == GpuDirect::kOn && PairsAreAlike(fabric)) {
  std::uint8_t top_tier = 0;
  nic_numbers.reserve(fabric.device_count());
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    const Device& device = fabric.device(DeviceId(d));
    top_tier = std::max(top_tier, device.tier);
    nic_numbers.push_back(nics);
    if (device.kind == DeviceKind::kNic || device.kind == DeviceKind::kHost) ++nics;
  }
  std::vector<LinkId> crossing(fabric.link_count());
  for (std::size_t l = 0; l < crossing.size(); ++l) crossing[l] = LinkId(l);
  DisjointSets sets(fabric.device_count());
  UniteNodes(fabric, sets);
  levels.push_back(LevelOf(Roots(sets), fabric, options, crossing));
  for (std::uint8_t tier = 1; tier < top_tier; ++tier) {
    for (const LinkId id : crossing) {
      const Link& link = fabric.link(id);
      if (fabric.device(link.from).tier <= tier && fabric.device(link.to).tier <= tier) {
        sets.Unite(static_cast<std::uint32_t>(Index(link.from)),
                   static_cast<std::uint32_t>(Index(link.to)));
      }
    }
    levels.push_back(LevelOf(Roots(sets), fabric, options, crossing));
  }
}

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

Partition FabricCuts::Blocks(std::size_t level, const std::vector<DeviceId>& members,
                             const CutLoad* load) const {
  const FabricLevels::Level& blocks = blocks_.levels[level];
  std::vector<std::uint32_t> block(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) block[i] = blocks.block_of[Index(members[i])];
  std::uint32_t parts = 0;
  Partition partition;
  partition.part_of = Densely(block, blocks.egress.size(), parts);
  partition.size.resize(parts);
  for (const std::uint32_t part : partition.part_of) ++partition.size[part];
  partition.egress.resize(parts);
  partition.ingress.resize(parts);
  partition.between_nodes = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint32_t part = partition.part_of[i];
    const double share = load == nullptr
                             ? 1.0
                             : static_cast<double>(partition.size[part]) /
                                   static_cast<double>(load->ranks_of_block[level][block[i]]);
    partition.egress[part] = blocks.egress[block[i]] * share;
    partition.ingress[part] = blocks.ingress[block[i]] * share;
  }
  return partition;
}

// A group that lives on some GPUs of its nodes has only their NICs (route.h: the NIC nearest to the
// GPU). A path between nodes takes a bus to a NIC and a cable from it, at both ends.
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

  std::ranges::fill(nodes.egress, 0.0);
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
    nodes.egress[part] += capacity.out * share;
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
  if (load.evenness != 0) return pattern;
  for (const DeviceId member : members) {
    if (const auto nic = router_->nic(member)) {
      add(load.ranks_of_nic[blocks_.nic_numbers[Index(*nic)]]);
    }
    for (std::size_t level = 0; level < blocks_.levels.size(); ++level) {
      const std::uint32_t block = blocks_.levels[level].block_of[Index(member)];
      add(load.ranks_of_block[level][block]);
      add(std::bit_cast<std::uint64_t>(blocks_.levels[level].egress[block]));
      add(std::bit_cast<std::uint64_t>(blocks_.levels[level].ingress[block]));
    }
  }
  return pattern;
}

std::uint64_t FabricCuts::EvennessOf(const CutLoad& load) const {
  std::uint64_t name = 1;
  const auto add = [&name](std::uint64_t value) { name = HashCombine(name, value); };
  for (std::size_t l = 0; l < blocks_.levels.size(); ++l) {
    const FabricLevels::Level& level = blocks_.levels[l];
    std::optional<std::size_t> first;
    for (std::size_t block = 0; block < level.egress.size(); ++block) {
      if (load.ranks_of_block[l][block] == 0) continue;
      if (!first) first = block;
      if (load.ranks_of_block[l][block] != load.ranks_of_block[l][*first] ||
          level.egress[block] != level.egress[*first] ||
          level.ingress[block] != level.ingress[*first]) {
        return 0;
      }
    }
    if (!first) continue;
    add(load.ranks_of_block[l][*first]);
    add(std::bit_cast<std::uint64_t>(level.egress[*first]));
    add(std::bit_cast<std::uint64_t>(level.ingress[*first]));
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
  if (const auto nic = router_->nic(from)) {
    narrow(NetworkCapacity(*nic).out, senders.ranks_of_nic[blocks_.nic_numbers[Index(*nic)]]);
  }
  if (const auto nic = router_->nic(to)) {
    narrow(NetworkCapacity(*nic).in, receivers.ranks_of_nic[blocks_.nic_numbers[Index(*nic)]]);
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
  load.ranks_of_nic.resize(blocks_.nics);
  for (const DeviceId endpoint : endpoints) {
    if (const auto nic = router_->nic(endpoint))
      ++load.ranks_of_nic[blocks_.nic_numbers[Index(*nic)]];
  }
  load.evenness = EvennessOf(load);
  return load;
}

Result<std::vector<Partition>> FabricCuts::PartitionsOf(const std::vector<DeviceId>& members,
                                                        const CutLoad* load) const {
  std::vector<Partition> partitions;
  if (members.size() < 2) return partitions;
  partitions.push_back(Endpoints(members));
  for (std::size_t level = 0; level < blocks_.levels.size(); ++level) {
    Partition partition = Blocks(level, members, load);
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
