#include "engine/cuts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trunkline {
namespace {

// Disjoint sets of devices.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t Find(std::uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void Unite(std::uint32_t a, std::uint32_t b) { parent_[Find(b)] = Find(a); }
  [[nodiscard]] std::size_t count() const { return parent_.size(); }

 private:
  std::vector<std::uint32_t> parent_;
};

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

// The first network link of a route, and the latency of the links before it.
struct NetworkEntry {
  LinkId link{};
  Time before;
};

NetworkEntry FindNetworkEntry(const Fabric& fabric, const Route& route) {
  Time before;
  for (const Hop& hop : route.hops) {
    const std::size_t resource = Index(hop.resource);
    const LinkId link =
        resource < fabric.link_count()
            ? LinkId(static_cast<std::uint32_t>(resource))
            : fabric.trunk_links(static_cast<std::uint32_t>(resource - fabric.link_count()))[0];
    if (fabric.link(link).kind == LinkKind::kNetwork) return {link, before};
    before += fabric.link(link).latency;
  }
  TL_CHECK(false, "a route between nodes crosses no network link");
  return {};
}

}  // namespace

FabricCuts::FabricCuts(const Router& router) : router_(&router) {
  const Fabric& fabric = router.fabric();
  DisjointSets sets(fabric.device_count());
  UniteNodes(fabric, sets);
  AddLevel(Roots(sets));

  std::uint8_t top_tier = 0;
  for (std::uint32_t d = 0; d < fabric.device_count(); ++d) {
    top_tier = std::max(top_tier, fabric.device(DeviceId(d)).tier);
  }
  for (std::uint8_t tier = 1; tier < top_tier; ++tier) {
    for (std::uint32_t l = 0; l < fabric.link_count(); l += 2) {  // the other direction joins alike
      const Link& link = fabric.link(LinkId(l));
      if (fabric.device(link.from).tier <= tier && fabric.device(link.to).tier <= tier) {
        sets.Unite(static_cast<std::uint32_t>(Index(link.from)),
                   static_cast<std::uint32_t>(Index(link.to)));
      }
    }
    AddLevel(Roots(sets));
  }
}

double FabricCuts::PayloadRate(const Link& link) const {
  const double rate = link.rate.bytes_per_second();
  if (link.kind != LinkKind::kNetwork) return rate;
  const RouterOptions& options = router_->options();
  return rate * static_cast<double>(options.payload_bytes) /
         static_cast<double>(options.wire_bytes);
}

void FabricCuts::AddLevel(const std::vector<std::uint32_t>& root_of) {
  const Fabric& fabric = router_->fabric();
  Level level;
  std::uint32_t blocks = 0;
  level.block_of = Densely(root_of, root_of.size(), blocks);
  level.egress.resize(blocks);
  level.ingress.resize(blocks);
  for (std::uint32_t l = 0; l < fabric.link_count(); ++l) {
    const Link& link = fabric.link(LinkId(l));
    const std::uint32_t from = level.block_of[Index(link.from)];
    const std::uint32_t to = level.block_of[Index(link.to)];
    if (from == to) continue;
    level.egress[from] += PayloadRate(link);
    level.ingress[to] += PayloadRate(link);
  }
  levels_.push_back(std::move(level));
}

Partition FabricCuts::Group(const Level& level, const std::vector<DeviceId>& members) const {
  std::vector<std::uint32_t> block(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) block[i] = level.block_of[Index(members[i])];
  std::uint32_t parts = 0;
  Partition partition;
  partition.part_of = Densely(block, level.egress.size(), parts);
  partition.size.resize(parts);
  partition.egress.resize(parts);
  partition.ingress.resize(parts);
  partition.between_nodes = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint32_t part = partition.part_of[i];
    ++partition.size[part];
    partition.egress[part] = level.egress[block[i]];
    partition.ingress[part] = level.ingress[block[i]];
  }
  return partition;
}

// An endpoint sends over all its links, except that a group within one node stays on the scale-up
// links where every member has them (route.h).
Partition FabricCuts::Endpoints(const std::vector<DeviceId>& members) const {
  const Fabric& fabric = router_->fabric();
  const auto scale_up = [&](LinkId id) {
    const LinkKind kind = fabric.link(id).kind;
    return kind == LinkKind::kNvlink || kind == LinkKind::kXgmi;
  };
  const std::vector<std::uint32_t>& node_of = levels_.front().block_of;
  const bool one_node = std::ranges::all_of(
      members, [&](DeviceId m) { return node_of[Index(m)] == node_of[Index(members.front())]; });
  const bool scale_up_only = one_node && std::ranges::all_of(members, [&](DeviceId m) {
                               return std::ranges::any_of(fabric.out(m), scale_up);
                             });

  Partition partition;
  partition.part_of.resize(members.size());
  std::iota(partition.part_of.begin(), partition.part_of.end(), 0U);
  partition.size.assign(members.size(), 1);
  Time through_switch = Time::Max();
  Time direct = Time::Max();
  for (const DeviceId member : members) {
    double out = 0;
    double in = 0;
    for (const LinkId id : fabric.out(member)) {
      if (scale_up_only && !scale_up(id)) continue;
      out += PayloadRate(fabric.link(id));
      in += PayloadRate(fabric.link(fabric.reverse(id)));
      Time& least = IsEndpoint(fabric, fabric.link(id).to) ? direct : through_switch;
      least = std::min(least, fabric.link(id).latency);
    }
    partition.egress.push_back(out);
    partition.ingress.push_back(in);
  }
  // A path leaves one endpoint and enters another, by two links or by one direct link.
  if (through_switch != Time::Max()) through_switch = through_switch * 2;
  partition.crossing = std::min(through_switch, direct);
  if (partition.crossing == Time::Max()) partition.crossing = Time();  // no links at all
  return partition;
}

// A group that lives on some GPUs of its nodes has only their NICs (route.h: the NIC nearest to the
// GPU); also finds how far the network is from its members.
Result<void> FabricCuts::NarrowToUsedNics(const std::vector<DeviceId>& members,
                                          Partition& nodes) const {
  const Fabric& fabric = router_->fabric();
  const std::size_t elsewhere =
      static_cast<std::size_t>(std::ranges::find(nodes.part_of, 1U) - nodes.part_of.begin());
  std::vector<std::pair<std::uint32_t, DeviceId>> nics;  // (part, NIC or host)
  Time least_before = Time::Max();
  Time least_first = Time::Max();
  std::int64_t network_links = 2;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const DeviceId remote = members[nodes.part_of[i] == 0 ? elsewhere : 0];
    const auto route = router_->FindRoute(members[i], remote, 0);
    if (!route) return std::unexpected(route.error());
    const NetworkEntry entry = FindNetworkEntry(fabric, *route);
    const Link& link = fabric.link(entry.link);
    least_before = std::min(least_before, entry.before);
    least_first = std::min(least_first, link.latency);
    if (fabric.device(link.to).kind != DeviceKind::kSwitch) network_links = 1;
    nics.emplace_back(nodes.part_of[i], link.from);
  }
  std::ranges::sort(nics);
  const auto repeated = std::ranges::unique(nics);
  nics.erase(repeated.begin(), repeated.end());

  std::ranges::fill(nodes.egress, 0.0);
  std::ranges::fill(nodes.ingress, 0.0);
  for (const auto& [part, nic] : nics) {
    for (const LinkId id : fabric.out(nic)) {
      if (fabric.link(id).kind != LinkKind::kNetwork) continue;
      nodes.egress[part] += PayloadRate(fabric.link(id));
      nodes.ingress[part] += PayloadRate(fabric.link(fabric.reverse(id)));
    }
  }
  nodes.crossing = least_before * 2 + least_first * network_links;
  return {};
}

Result<std::vector<Partition>> FabricCuts::PartitionsOf(
    const std::vector<DeviceId>& members) const {
  std::vector<Partition> partitions;
  if (members.size() < 2) return partitions;
  partitions.push_back(Endpoints(members));
  for (const Level& level : levels_) {
    Partition partition = Group(level, members);
    if (partition.parts() < 2) break;
    const Partition& inner = partitions.back();
    if (!inner.between_nodes) {
      if (auto narrowed = NarrowToUsedNics(members, partition); !narrowed) {
        return std::unexpected(narrowed.error());
      }
    } else {
      // What leaves a block first leaves one of its parts.
      std::vector<double> out(partition.parts());
      std::vector<double> in(partition.parts());
      std::vector<char> counted(inner.parts());
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::uint32_t part = inner.part_of[i];
        if (std::exchange(counted[part], 1) != 0) continue;
        out[partition.part_of[i]] += inner.egress[part];
        in[partition.part_of[i]] += inner.ingress[part];
      }
      for (std::uint32_t part = 0; part < partition.parts(); ++part) {
        partition.egress[part] = std::min(partition.egress[part], out[part]);
        partition.ingress[part] = std::min(partition.ingress[part], in[part]);
      }
      partition.crossing = inner.crossing;
    }
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace trunkline
