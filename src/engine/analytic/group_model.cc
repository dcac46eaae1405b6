#include "engine/analytic/group_model.h"

#include <bit>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "engine/alike.h"
#include "engine/hop_class.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

GroupLayout LayoutOf(const Fabric& fabric, const std::vector<DeviceId>& members,
                     const std::vector<Partition>& partitions) {
  GroupLayout layout;
  layout.node =
      partitions.size() > 1 ? partitions[1].part_of : std::vector<std::uint32_t>(members.size(), 0);
  layout.meshed = IsMeshed(fabric, members.front());
  for (const DeviceId member : members) layout.local.push_back(fabric.device(member).local);
  return layout;
}

// The hop by which a route leaves the GPU whose NIC sends it: the first, unless another GPU of the
// server forwards it.
std::size_t SenderHop(const Fabric& fabric, const Route& route) {
  std::size_t sender = 0;
  for (std::size_t i = 0; i < route.hops.size(); ++i) {
    const std::size_t link = Index(route.hops[i].resource);  // or more: a trunk
    if (link >= fabric.link_count() || fabric.link(LinkId(link)).kind == LinkKind::kNetwork) {
      return sender;
    }
    if (fabric.device(fabric.link(LinkId(link)).from).kind == DeviceKind::kGpu) sender = i;
  }
  return 0;  // inside a server
}

// The place in its server of the device before the hop. REQUIRES: the hop is a bus.
std::uint32_t PlaceBefore(const Fabric& fabric, const Route& route, std::size_t hop) {
  return fabric.device(fabric.link(LinkId(Index(route.hops[hop].resource))).from).local;
}

}  // namespace

Result<GroupModel> GroupModel::Make(const Router& router, const TransportModel& transport,
                                    const FabricCuts& cuts, std::vector<DeviceId> members,
                                    const CutLoad* load,
                                    std::vector<std::vector<DeviceId>> siblings) {
  auto partitions = cuts.PartitionsOf(members, load);
  if (!partitions) return std::unexpected(partitions.error());
  const Fabric& fabric = router.fabric();
  GroupModel model;
  model.router_ = &router;
  model.transport_ = &transport;
  model.steps_ = &transport.step_latency;
  model.layout_ = LayoutOf(fabric, members, *partitions);
  model.locals_ = 1 + *std::ranges::max_element(model.layout_.local);
  if (!partitions->empty()) partitions->erase(partitions->begin());
  model.blocks_ = std::move(*partitions);
  model.each_pair_ = !cuts.alike();
  model.relayed_ = cuts.alike() && !cuts.joined();
  if (!model.each_pair_ && !model.blocks_.empty()) model.rails_ = cuts.RailsOf(members, load);
  if (!model.each_pair_) {
    model.ways_.resize((model.blocks_.size() + 1) * model.locals_ * model.locals_);
    model.members_of_local_.resize(model.locals_);
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      model.members_of_local_[model.layout_.local[i]].push_back(i);
    }
  }
  model.block_load_.resize(model.blocks_.size());
  model.rail_load_.resize(model.rails_.size());

  model.inside_load_.Resize(members.size());
  model.outside_load_.Resize(members.size());
  for (std::size_t l = 0; l < model.blocks_.size(); ++l) {
    model.block_load_[l].Resize(model.blocks_[l].parts());
  }
  for (std::size_t l = 0; l < model.rails_.size(); ++l) {
    model.rail_load_[l].Resize(model.rails_[l].parts());
  }

  for (const DeviceId member : members) {
    double scale_up = 0;
    double any = 0;
    for (const LinkId id : fabric.out(member)) {
      const Link& link = fabric.link(id);
      (IsScaleUp(link.kind) ? scale_up : any) += link.rate.bytes_per_second();
    }
    model.inside_capacity_.out.push_back(scale_up > 0 ? scale_up : any);
  }
  model.inside_capacity_.in = model.inside_capacity_.out;
  model.members_ = std::move(members);
  model.siblings_ = std::move(siblings);
  return model;
}

void GroupModel::set_protocol(Protocol protocol, const StepLatency& steps) {
  failure_.reset();
  if (protocol == protocol_ && &steps == steps_) return;
  protocol_ = protocol;
  steps_ = &steps;
  dilution_ = 128.0 / static_cast<double>(PayloadPer128(protocol));
  std::ranges::fill(ways_, std::nullopt);
  paths_.clear();
  hops_.clear();
}

const Way& GroupModel::WayAt(std::size_t level, std::uint32_t from, std::uint32_t to) {
  std::optional<Way>& way =
      ways_[(level * locals_ + layout_.local[from]) * locals_ + layout_.local[to]];
  if (!way) {
    const auto [first, second] = FirstAlike(level, from, to);
    way = FindWay(first, second);
  }
  return *way;
}

std::pair<std::uint32_t, std::uint32_t> GroupModel::FirstAlike(std::size_t level,
                                                               std::uint32_t from,
                                                               std::uint32_t to) const {
  for (const std::uint32_t first : members_of_local_[layout_.local[from]]) {
    for (const std::uint32_t second : members_of_local_[layout_.local[to]]) {
      if (first != second && Level(first, second) == level) return {first, second};
    }
  }
  return {from, to};
}

std::optional<Route> GroupModel::FindRoute(DeviceId from, DeviceId to) {
  auto route = router_->FindRoute(from, to, 0);
  if (route) return *std::move(route);
  if (!failure_) failure_ = route.error();
  return std::nullopt;
}

// Seconds that a wire byte takes on the narrowest hop up to the first cable of the network.
template <typename Iterator>
double GroupModel::NarrowestUpTo(Iterator hop, Iterator end) const {
  const Fabric& fabric = router_->fabric();
  double per_byte = 0;
  for (; hop != end; ++hop) {
    per_byte =
        std::max(per_byte, hop->weight / router_->capacity(hop->resource).bytes_per_second());
    const std::size_t link = Index(hop->resource);  // or more: a trunk
    const bool bus =
        link < fabric.link_count() && fabric.link(LinkId(link)).kind != LinkKind::kNetwork;
    if (!bus) break;
  }
  return per_byte;
}

Way GroupModel::WayOver(const Route& route) const {
  const HopClass hop_class = HopClassOf(router_->fabric(), route);
  const Time step =
      (*steps_)[static_cast<std::size_t>(protocol_)][static_cast<std::size_t>(hop_class)];
  const RouteCost cost = CostOf(route, hop_class, *transport_);
  const std::size_t sender = SenderHop(router_->fabric(), route);
  return {.per_byte = dilution_ / cost.limit.bytes_per_second(),
          .per_hop_byte = dilution_ / route.limit.bytes_per_second(),
          .per_sent_byte = NarrowestUpTo(route.hops.begin() + static_cast<std::ptrdiff_t>(sender),
                                         route.hops.end()),
          .per_received_byte = NarrowestUpTo(route.hops.rbegin(), route.hops.rend()),
          .latency = (cost.latency + step).seconds(),
          .relay = sender == 0 ? Way::kNoRelay : PlaceBefore(router_->fabric(), route, sender)};
}

Way GroupModel::FindWay(std::uint32_t from, std::uint32_t to) {
  const auto route = FindRoute(members_[from], members_[to]);
  return route ? WayOver(*route) : Way();
}

std::uint32_t GroupModel::LinkOf(ResourceId resource) {
  const auto [known, added] =
      links_.try_emplace(resource, static_cast<std::uint32_t>(link_rate_.size()));
  if (added) {
    link_rate_.push_back(router_->capacity(resource).bytes_per_second());
    link_load_.push_back(0);
  }
  return known->second;
}

const GroupModel::Path& GroupModel::PathOf(std::uint32_t from, std::uint32_t to) {
  const auto [known, added] = paths_.try_emplace(std::uint64_t{from} << 32U | to);
  Path& path = known->second;
  if (!added) return path;
  path.first_hop = static_cast<std::uint32_t>(hops_.size());
  const auto add = [&](const std::vector<DeviceId>& members) {
    const auto route = FindRoute(members[from], members[to]);
    if (!route) return;
    const Way way = WayOver(*route);
    path.way = {.per_byte = std::max(path.way.per_byte, way.per_byte),
                .per_hop_byte = std::max(path.way.per_hop_byte, way.per_hop_byte),
                .per_sent_byte = std::max(path.way.per_sent_byte, way.per_sent_byte),
                .per_received_byte = std::max(path.way.per_received_byte, way.per_received_byte),
                .latency = std::max(path.way.latency, way.latency)};
    for (const Hop& hop : route->hops) hops_.push_back({LinkOf(hop.resource), hop.weight});
  };
  add(members_);
  for (const std::vector<DeviceId>& sibling : siblings_) add(sibling);
  path.hop_count = static_cast<std::uint32_t>(hops_.size()) - path.first_hop;
  if (!siblings_.empty()) {
    const double per_byte = dilution_ * MostOnOneLink(path);
    path.way.per_byte = std::max(path.way.per_byte, per_byte);
    path.way.per_hop_byte = std::max(path.way.per_hop_byte, per_byte);
  }
  return path;
}

// The seconds that a wire byte of a pair and of each of its counterparts takes on their busiest
// link.
double GroupModel::MostOnOneLink(const Path& path) const {
  const auto own = std::span(hops_).subspan(path.first_hop, path.hop_count);
  std::vector<LoadedHop> hops(own.begin(), own.end());
  std::ranges::sort(hops, {}, &LoadedHop::link);
  double most = 0;
  double weight = 0;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    weight = i > 0 && hops[i].link == hops[i - 1].link ? weight + hops[i].weight : hops[i].weight;
    most = std::max(most, weight / link_rate_[hops[i].link]);
  }
  return most;
}

void GroupModel::ClearLoad() {
  for (const std::uint32_t link : loaded_links_) link_load_[link] = 0;
  loaded_links_.clear();
  // Forms of many steps meet ever new pairs; 16 bytes a hop.
  constexpr std::size_t kMostHops = std::size_t{1} << 22;
  if (hops_.size() > kMostHops) {
    paths_.clear();
    hops_.clear();
  }
  if (loaded_.size() > members_.size()) {
    for (Loads* loads : {&inside_load_, &outside_load_}) loads->Clear();
    for (Loads& loads : block_load_) loads.Clear();
    for (Loads& loads : rail_load_) loads.Clear();
    loaded_.clear();
    loaded_relays_.clear();
    return;
  }
  for (const std::uint32_t relay : loaded_relays_) {
    inside_load_.in[relay] = outside_load_.out[relay] = 0;
  }
  loaded_relays_.clear();
  for (const std::uint32_t member : loaded_) {
    inside_load_.out[member] = inside_load_.in[member] = 0;
    outside_load_.out[member] = outside_load_.in[member] = 0;
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
      const std::uint32_t part = blocks_[l].part_of[member];
      block_load_[l].out[part] = block_load_[l].in[part] = 0;
    }
    for (std::size_t l = 0; l < rails_.size(); ++l) {
      const std::uint32_t part = rails_[l].part_of[member];
      rail_load_[l].out[part] = rail_load_[l].in[part] = 0;
    }
  }
  loaded_.clear();
}

void GroupModel::AddLoad(std::uint32_t from, std::uint32_t to, double bytes) {
  const double wire = bytes * dilution_;
  const std::size_t level = Level(from, to);
  Loads& endpoint = level == 0 ? inside_load_ : outside_load_;
  endpoint.in[to] += wire;
  if (level > 0 && relayed_) {
    LoadSender(from, WayOf(from, to), wire);
  } else {
    endpoint.out[from] += wire;
  }
  loaded_.push_back(from);
  loaded_.push_back(to);
  if (each_pair_) {
    const Path& path = PathOf(from, to);
    for (std::uint32_t i = 0; i < path.hop_count; ++i) {
      const LoadedHop& hop = hops_[path.first_hop + i];
      if (link_load_[hop.link] == 0) loaded_links_.push_back(hop.link);
      link_load_[hop.link] += wire * hop.weight;
    }
  }
  for (std::size_t l = 0; l < level; ++l) {
    block_load_[l].out[blocks_[l].part_of[from]] += wire;
    block_load_[l].in[blocks_[l].part_of[to]] += wire;
  }
  for (std::size_t l = 0; level > 0 && l < rails_.size(); ++l) {
    if (rails_[l].part_of[from] == rails_[l].part_of[to]) break;
    rail_load_[l].out[rails_[l].part_of[from]] += wire;
    rail_load_[l].in[rails_[l].part_of[to]] += wire;
  }
}

std::uint32_t GroupModel::AlikeNodeSize() const {
  if (each_pair_) return 0;
  const auto all_equal = [](const auto& values) {
    return std::ranges::adjacent_find(values, std::ranges::not_equal_to()) == values.end();
  };
  std::uint32_t inner = 1;
  for (const Partition& blocks : blocks_) {
    const std::uint32_t size = blocks.size.front();
    if (!std::has_single_bit(size) || size % inner != 0 || !all_equal(blocks.size) ||
        !all_equal(blocks.egress) || !all_equal(blocks.ingress)) {
      return 0;
    }
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      if (blocks.part_of[i] != i / size) return 0;
    }
    inner = size;
  }
  for (const Partition& rails : rails_) {
    if (!all_equal(rails.size) || !all_equal(rails.egress) || !all_equal(rails.ingress)) return 0;
  }
  const std::uint32_t node = blocks_.empty() ? ranks() : blocks_.front().size.front();
  if (!std::ranges::is_sorted(std::span(layout_.local).first(node))) return 0;
  for (std::uint32_t i = node; i < ranks(); ++i) {
    if (layout_.local[i] != layout_.local[i - node] ||
        inside_capacity_.out[i] != inside_capacity_.out[i - node]) {
      return 0;
    }
  }
  return node;
}

void GroupModel::LoadEvenly(std::uint32_t member, std::uint32_t partner, std::size_t level,
                            double wire) {
  Loads& endpoint = level == 0 ? inside_load_ : outside_load_;
  endpoint.out[member] = endpoint.in[member] = wire;
  loaded_.push_back(member);
  for (std::size_t l = 0; l < level; ++l) {
    const std::uint32_t part = blocks_[l].part_of[member];
    block_load_[l].out[part] = block_load_[l].in[part] = blocks_[l].size[part] * wire;
  }
  for (std::size_t l = 0; level > 0 && l < rails_.size(); ++l) {
    const std::uint32_t part = rails_[l].part_of[member];
    if (part == rails_[l].part_of[partner]) break;
    rail_load_[l].out[part] = rail_load_[l].in[part] = rails_[l].size[part] * wire;
  }
}

void GroupModel::TakeExchange(std::uint32_t distance, double bytes, std::vector<double>& reached) {
  ClearLoad();
  const auto node = static_cast<std::uint32_t>(reached.size());
  const std::size_t level = Level(0, distance);
  for (std::uint32_t i = 0; i < node; ++i) {
    LoadEvenly(i, i ^ distance, level, bytes * dilution_);
    LoadEvenly(i ^ distance, i, level, bytes * dilution_);
  }
  const std::vector<double> before = reached;
  for (std::uint32_t i = 0; i < node; ++i) {
    const std::uint32_t to = i ^ distance;
    double& arrival = reached[to % node];
    arrival = std::max(arrival, before[i] + BusySeconds(i, to, bytes) + WayOf(i, to).latency);
  }
}

double GroupModel::BusySeconds(std::uint32_t from, std::uint32_t to, double bytes,
                               std::uint32_t connections) {
  const std::size_t level = Level(from, to);
  const Way& way = WayOf(from, to);
  double busy = bytes * way.PerByte(connections);
  if (each_pair_) {
    const Path& path = PathOf(from, to);
    for (std::uint32_t i = 0; i < path.hop_count; ++i) {
      const std::uint32_t link = hops_[path.first_hop + i].link;
      busy = std::max(busy, link_load_[link] / link_rate_[link]);
    }
  } else if (level == 0) {
    busy = std::max({busy, inside_load_.out[from] / inside_capacity_.out[from],
                     inside_load_.in[to] / inside_capacity_.in[to]});
  } else {
    std::uint32_t sender = from;
    if (way.relay != Way::kNoRelay) {
      sender = RelayOf(from, way.relay);
      busy = std::max({busy, inside_load_.out[from] / inside_capacity_.out[from],
                       inside_load_.in[sender] / inside_capacity_.in[sender]});
    }
    busy = std::max({busy, outside_load_.out[sender] * way.per_sent_byte,
                     outside_load_.in[to] * way.per_received_byte});
  }
  for (std::size_t l = 0; l < level; ++l) {
    const Partition& blocks = blocks_[l];
    const std::uint32_t out = blocks.part_of[from];
    const std::uint32_t in = blocks.part_of[to];
    busy = std::max({busy, block_load_[l].out[out] / blocks.egress[out],
                     block_load_[l].in[in] / blocks.ingress[in]});
  }
  for (std::size_t l = 0; level > 0 && l < rails_.size(); ++l) {
    const Partition& rails = rails_[l];
    const std::uint32_t out = rails.part_of[from];
    const std::uint32_t in = rails.part_of[to];
    if (out == in) break;
    busy = std::max({busy, rail_load_[l].out[out] / rails.egress[out],
                     rail_load_[l].in[in] / rails.ingress[in]});
  }
  return transport_->message_overhead.seconds() + busy;
}

}  // namespace trunkline
