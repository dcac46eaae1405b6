#include "trunkline/fabric/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "fabric/network_paths.h"
#include "fabric/node_paths.h"
#include "fabric/routing/policy.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Names the draws of routing among all users of one seed.
constexpr std::uint64_t kRoutingStream = 0x726f7574696e67;  // "routing"

// Most paths are no longer: six cables between leaf, spine and core, and the buses of two servers.
constexpr std::size_t kUsualHops = 16;

// Whether the trunks between the same two tiers are alike in size. An even split over all minimal
// paths then loads the links of every trunk evenly; where cables are missing it may not.
bool TrunksAreAlike(const Fabric& fabric) {
  std::map<std::pair<int, int>, std::size_t> size_between;
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    const auto links = fabric.trunk_links(trunk);
    const Link& link = fabric.link(links.front());
    const std::pair tiers(fabric.device(link.from).tier, fabric.device(link.to).tier);
    const auto [known, added] = size_between.try_emplace(tiers, links.size());
    if (!added && known->second != links.size()) return false;
  }
  return true;
}

std::string Switches(std::size_t count) {
  return count == 1 ? "one switch" : fmt::format("{} switches", count);
}

bool IsNetworkEnd(DeviceKind kind) { return kind == DeviceKind::kNic || kind == DeviceKind::kHost; }

}  // namespace

class Router::Tables {
 public:
  // The three parts of a path: buses to a NIC, the network, buses from a NIC. A path inside a node
  // has the first alone.
  struct Legs {
    std::span<const std::uint32_t> from_source = {};
    std::span<const std::uint32_t> to_destination = {};
    std::span<const std::uint32_t> to_relay = {};  // before `from_source`
    DeviceId source_nic{};
    DeviceId destination_nic{};
    bool crosses_network = false;
  };

  Tables(const Fabric& fabric, const RouterOptions& options);

  [[nodiscard]] Rate capacity(ResourceId resource) const;
  [[nodiscard]] std::optional<DeviceId> NicOf(DeviceId endpoint) const;
  [[nodiscard]] Result<Legs> FindLegs(DeviceId src, DeviceId dst) const;

  // The buses from the source to its NIC, by the relay where there is one.
  void AppendOutwards(DeviceId src, const Legs& legs, std::vector<LinkId>& path) const {
    AppendInside(src, legs.to_relay, path);
    AppendInside(src, legs.from_source, path);
  }
  void AppendInside(DeviceId at, std::span<const std::uint32_t> buses,
                    std::vector<LinkId>& path) const;
  struct Walk {
    std::size_t split = 0;  // place of the first fork that the flow is split over link by link, or
                            // path.size()
    bool forks = false;     // there are other minimal paths
  };
  // The one path of a packet through the network.
  Walk AppendNetwork(DeviceId src, DeviceId dst, std::uint64_t flow, std::vector<LinkId>& path,
                     std::vector<LinkId>& scratch) const;

  // The cable into `dst` where it ends at `dst` that a path through the network does, and there is
  // no other.
  [[nodiscard]] std::optional<LinkId> OnlyCableInto(DeviceId dst) const;
  [[nodiscard]] std::uint32_t destination(DeviceId dst) const { return network_.destination(dst); }
  // What `link` adds to the latency of a path to `dst`.
  [[nodiscard]] Time LatencyOf(LinkId link, DeviceId dst) const;
  // What the hop leaves of a lone flow's rate, in bit/s.
  [[nodiscard]] double LimitOf(const Hop& hop) const {
    return static_cast<double>(capacity(hop.resource).bits_per_second()) / hop.weight;
  }

  [[nodiscard]] Hop HopOf(LinkId link) const;
  // The hops of a flow from `at`, a fork, to `dst`, an attached device, where the flow is split
  // link by link wherever no trunk stands for the fork.
  void AppendSplit(DeviceId at, DeviceId dst, std::vector<Hop>& hops) const;

 private:
  [[nodiscard]] bool IsSplit(const NetworkPaths::Ports& ports) const {
    return policy_.balances && ports.links.size() > 1 &&
           !(uses_trunks_ && ports.trunk != Link::kNoTrunk);
  }
  // Whether a network path joins two NICs.
  [[nodiscard]] bool Joins(DeviceId source_nic, DeviceId destination_nic) const;
  [[nodiscard]] std::optional<DeviceId> FindRelay(DeviceId src, DeviceId destination_nic) const;
  [[nodiscard]] std::unexpected<Diagnostics> NoPath(DeviceId src, DeviceId dst) const;

  const Fabric& fabric_;
  const RoutingPolicyTraits& policy_;
  NodePaths inside_;
  NetworkPaths network_;
  double wire_weight_;
  std::uint64_t seed_;
  bool uses_trunks_;
  std::vector<Rate> trunk_capacity_;
};

Router::Tables::Tables(const Fabric& fabric, const RouterOptions& options)
    : fabric_(fabric),
      policy_(TraitsOf(options.policy)),
      inside_(fabric, options.gpudirect),
      network_(fabric),
      wire_weight_(static_cast<double>(options.wire_bytes) /
                   static_cast<double>(options.payload_bytes)),
      seed_(HashCombine(options.seed, kRoutingStream)),
      uses_trunks_(options.policy == RoutingPolicy::kAdaptive ||
                   (options.policy == RoutingPolicy::kSpray && TrunksAreAlike(fabric))) {
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    trunk_capacity_.push_back(policy_.trunk_capacity(fabric, fabric.trunk_links(trunk)));
  }
}

Rate Router::Tables::capacity(ResourceId resource) const {
  const std::size_t index = Index(resource);
  if (index < fabric_.link_count()) return fabric_.link(LinkId(index)).rate;
  return trunk_capacity_[index - fabric_.link_count()];
}

std::optional<DeviceId> Router::Tables::NicOf(DeviceId endpoint) const {
  if (IsNetworkEnd(fabric_.device(endpoint).kind)) return endpoint;
  return inside_.nic(endpoint);
}

Result<Router::Tables::Legs> Router::Tables::FindLegs(DeviceId src, DeviceId dst) const {
  const Device& from = fabric_.device(src);
  const Device& to = fabric_.device(dst);
  const bool both_ends = IsNetworkEnd(from.kind) && IsNetworkEnd(to.kind);
  if (from.node == to.node && !both_ends) {
    if (const auto buses = inside_.Find(src, dst)) return Legs{.from_source = *buses};
  }
  const auto source_nic = NicOf(src);
  const auto destination_nic = NicOf(dst);
  if (!source_nic || !destination_nic) return NoPath(src, dst);
  Legs legs{
      .source_nic = *source_nic, .destination_nic = *destination_nic, .crosses_network = true};
  DeviceId sender = src;
  if (!Joins(legs.source_nic, legs.destination_nic)) {
    const auto relay = FindRelay(src, legs.destination_nic);
    if (!relay) return NoPath(src, dst);
    sender = *relay;
    legs.to_relay = *inside_.Find(src, sender);
    legs.source_nic = *inside_.nic(sender);
  }
  if (sender != legs.source_nic) {
    const auto buses = inside_.Find(sender, legs.source_nic);
    if (!buses) return NoPath(src, dst);
    legs.from_source = *buses;
  }
  if (dst != legs.destination_nic) {
    const auto buses = inside_.Find(legs.destination_nic, dst);
    if (!buses) return NoPath(src, dst);
    legs.to_destination = *buses;
  }
  return legs;
}

bool Router::Tables::Joins(DeviceId source_nic, DeviceId destination_nic) const {
  return source_nic != destination_nic && network_.attached(source_nic) &&
         network_.attached(destination_nic) &&
         network_.Distance(source_nic, destination_nic) != NetworkPaths::kUnreachable;
}

// Where rails are not joined, the GPU of the source's node that forwards: the first one NVLink (or
// xGMI) leads to whose NIC reaches the destination's, counted from the index of that NIC on.
std::optional<DeviceId> Router::Tables::FindRelay(DeviceId src, DeviceId destination_nic) const {
  if (fabric_.device(src).kind != DeviceKind::kGpu) return std::nullopt;
  const std::uint32_t node = fabric_.device(src).node;
  const auto endpoints = fabric_.endpoints();
  const auto gpus = std::ranges::equal_range(
      endpoints, node, {}, [&](DeviceId gpu) { return fabric_.device(gpu).node; });
  const std::size_t first = fabric_.device(destination_nic).local % gpus.size();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const DeviceId relay = gpus[(first + i) % gpus.size()];
    const auto nic = inside_.nic(relay);
    if (relay == src || !nic || !Joins(*nic, destination_nic)) continue;
    const auto buses = inside_.Find(src, relay);
    if (buses && fabric_.link(inside_.link(node, buses->front())).kind != LinkKind::kPcie) {
      return relay;
    }
  }
  return std::nullopt;
}

void Router::Tables::AppendInside(DeviceId at, std::span<const std::uint32_t> buses,
                                  std::vector<LinkId>& path) const {
  const std::uint32_t node = fabric_.device(at).node;
  for (std::uint32_t bus : buses) path.push_back(inside_.link(node, bus));
}

Router::Tables::Walk Router::Tables::AppendNetwork(DeviceId src, DeviceId dst, std::uint64_t flow,
                                                   std::vector<LinkId>& path,
                                                   std::vector<LinkId>& scratch) const {
  const std::uint64_t pair = (std::uint64_t{Index(src)} << 32) | Index(dst);
  PortView view{.flow = Draw(seed_, pair, flow), .label = network_.label(dst)};
  std::optional<std::size_t> split;
  bool forks = false;
  for (DeviceId at = src; at != dst; at = fabric_.link(path.back()).to) {
    const NetworkPaths::Ports ports = network_.Next(at, dst, scratch);
    if (!split && IsSplit(ports)) split = path.size();
    view.ports = static_cast<std::uint32_t>(ports.links.size());
    if (view.ports == 1) {
      path.push_back(ports.links.front());
    } else {
      forks = true;
      path.push_back(ports.links[policy_.choose(view)]);
      view.label /= view.ports;
    }
    ++view.hop;
  }
  return {split.value_or(path.size()), forks};
}

std::optional<LinkId> Router::Tables::OnlyCableInto(DeviceId dst) const {
  if (!IsNetworkEnd(fabric_.device(dst).kind)) return std::nullopt;
  return network_.OnlyCableInto(dst);
}

Time Router::Tables::LatencyOf(LinkId id, DeviceId dst) const {
  const Link& link = fabric_.link(id);
  return link.to == dst ? link.latency : link.latency + fabric_.device(link.to).latency;
}

Hop Router::Tables::HopOf(LinkId id) const {
  const Link& link = fabric_.link(id);
  if (link.kind != LinkKind::kNetwork) return {Fabric::resource(id), 1};
  const bool trunk = uses_trunks_ && link.trunk != Link::kNoTrunk;
  return {trunk ? fabric_.trunk_resource(link.trunk) : Fabric::resource(id), wire_weight_};
}

void Router::Tables::AppendSplit(DeviceId from, DeviceId dst, std::vector<Hop>& hops) const {
  // Minimal paths advance one link at a time, so all parts of the flow are equally far along.
  std::map<DeviceId, double> parts = {{from, 1.0}};
  std::map<ResourceId, double> weights;
  std::vector<LinkId> scratch;
  while (!parts.contains(dst)) {
    std::map<DeviceId, double> next;
    for (const auto& [at, part] : parts) {
      NetworkPaths::Ports ports = network_.Next(at, dst, scratch);
      if (!IsSplit(ports)) ports.links = ports.links.first(1);
      double total = 0;
      for (LinkId link : ports.links) total += policy_.share(fabric_.link(link));
      for (LinkId link : ports.links) {
        const double share = part * policy_.share(fabric_.link(link)) / total;
        const Hop hop = HopOf(link);
        weights[hop.resource] += share * hop.weight;
        next[fabric_.link(link).to] += share;
      }
    }
    parts = std::move(next);
  }
  for (const auto& [resource, weight] : weights) hops.push_back({resource, weight});
}

// TL1410, with the cut: what the source reaches, and what it does not.
std::unexpected<Diagnostics> Router::Tables::NoPath(DeviceId src, DeviceId dst) const {
  const std::string what =
      fmt::format("no path from {} to {}", fabric_.name(src), fabric_.name(dst));
  for (DeviceId end : {src, dst}) {
    const auto nic = NicOf(end);
    if (!nic) return Error("TL1410", what, fabric_.name(end) + " reaches no NIC in its node");
    if (!network_.attached(*nic)) {
      return Error("TL1410", what, fabric_.name(*nic) + " has no network cable");
    }
    if (end != *nic && !(end == src ? inside_.Find(end, *nic) : inside_.Find(*nic, end))) {
      return Error(
          "TL1410", what,
          fmt::format("without GPUDirect, data between {} and {} passes through a CPU, and "
                      "the node has none that both reach",
                      fabric_.name(end), fabric_.name(*nic)));
    }
  }
  const DeviceId source_nic = *NicOf(src);
  const DeviceId destination_nic = *NicOf(dst);
  std::set<DeviceId> reached = {source_nic};
  std::vector<DeviceId> frontier = {source_nic};
  for (std::size_t head = 0; head < frontier.size(); ++head) {
    for (LinkId link : fabric_.out(frontier[head])) {
      const DeviceId to = fabric_.link(link).to;
      const bool forwards = fabric_.device(to).kind == DeviceKind::kSwitch;
      if (forwards && reached.insert(to).second) frontier.push_back(to);
    }
  }
  std::string far_side = fabric_.name(destination_nic);
  for (LinkId link : fabric_.out(destination_nic)) {
    if (fabric_.link(link).kind == LinkKind::kNetwork) {
      far_side = fabric_.name(fabric_.link(link).to);
    }
  }
  return Error("TL1410", what,
               fmt::format("{} reaches {}, and no cable leads from there to {} or beyond; "
                           "forward inside the node first, or join them by a higher tier",
                           fabric_.name(source_nic), Switches(reached.size() - 1), far_side));
}

Router::Router(const Fabric& fabric, RouterOptions options) : fabric_(&fabric), options_(options) {
  TL_CHECK(0 < options.payload_bytes && options.payload_bytes <= options.wire_bytes,
           options.payload_bytes, options.wire_bytes);
  tables_ = std::make_shared<const Tables>(fabric, options);
}

Rate Router::capacity(ResourceId resource) const { return tables_->capacity(resource); }

Result<DeviceId> Router::nic(DeviceId endpoint) const {
  if (const auto nic = tables_->NicOf(endpoint)) return *nic;
  return Error("TL1410", fmt::format("{} reaches no NIC in its node", fabric_->name(endpoint)),
               "give the node a NIC, and a PCIe path from the GPU to it");
}

Result<std::vector<LinkId>> Router::FindPath(DeviceId src, DeviceId dst, std::uint64_t flow) const {
  const auto legs = tables_->FindLegs(src, dst);
  if (!legs) return std::unexpected(legs.error());
  std::vector<LinkId> path;
  path.reserve(kUsualHops);
  tables_->AppendOutwards(src, *legs, path);
  if (legs->crosses_network) {
    std::vector<LinkId> scratch;
    tables_->AppendNetwork(legs->source_nic, legs->destination_nic, flow, path, scratch);
    tables_->AppendInside(dst, legs->to_destination, path);
  }
  return path;
}

Result<Route> Router::FindRoute(DeviceId src, DeviceId dst, std::uint64_t flow) const {
  RouteFinder finder(*this);
  const auto route = finder.Find(src, dst, flow);
  if (!route) return std::unexpected(route.error());
  return **route;
}

Result<const Route*> RouteFinder::Find(DeviceId src, DeviceId dst, std::uint64_t flow) {
  if (Extend(src, dst)) return &route_;
  const Router::Tables& tables = *router_->tables_;
  stem_.valid = false;
  const auto legs = tables.FindLegs(src, dst);
  if (!legs) return std::unexpected(legs.error());
  path_.clear();
  path_.reserve(kUsualHops);
  tables.AppendOutwards(src, *legs, path_);
  Router::Tables::Walk walk{.split = path_.size()};
  std::size_t network_end = path_.size();
  if (legs->crosses_network) {
    walk = tables.AppendNetwork(legs->source_nic, legs->destination_nic, flow, path_, scratch_);
    network_end = path_.size();
    tables.AppendInside(dst, legs->to_destination, path_);
  }

  std::vector<Hop>& hops = route_.hops;
  hops.clear();
  hops.reserve(path_.size());
  for (std::size_t i = 0; i < walk.split; ++i) hops.push_back(tables.HopOf(path_[i]));
  if (walk.split < network_end) {
    tables.AppendSplit(router_->fabric().link(path_[walk.split]).from, legs->destination_nic, hops);
  }
  for (std::size_t i = network_end; i < path_.size(); ++i) hops.push_back(tables.HopOf(path_[i]));

  route_.latency = Time();
  for (const LinkId link : path_) route_.latency += tables.LatencyOf(link, dst);
  double limit = HUGE_VAL;
  for (const Hop& hop : hops) limit = std::min(limit, tables.LimitOf(hop));
  route_.limit = Rate::BitsPerSecond(static_cast<std::int64_t>(limit));
  if (legs->crosses_network && !walk.forks) Keep(src, dst);
  return &route_;
}

// Keeps what the route just found has in common with those to the other ends at its last switch.
void RouteFinder::Keep(DeviceId src, DeviceId dst) {
  const Router::Tables& tables = *router_->tables_;
  if (!tables.OnlyCableInto(src) || !tables.OnlyCableInto(dst) || path_.size() < 2) return;
  stem_ = {.source = src,
           .destinations = tables.destination(dst),
           .latency = route_.latency - tables.LatencyOf(path_.back(), dst),
           .limit = HUGE_VAL,
           .valid = true};
  for (std::size_t i = 0; i + 1 < route_.hops.size(); ++i) {
    stem_.limit = std::min(stem_.limit, tables.LimitOf(route_.hops[i]));
  }
}

// Replaces the last hop, where that is all that differs.
bool RouteFinder::Extend(DeviceId src, DeviceId dst) {
  if (!stem_.valid || src != stem_.source) return false;
  const Router::Tables& tables = *router_->tables_;
  const auto cable = tables.OnlyCableInto(dst);
  if (!cable || tables.destination(dst) != stem_.destinations) return false;
  const Hop hop = tables.HopOf(*cable);
  route_.hops.back() = hop;
  route_.latency = stem_.latency + tables.LatencyOf(*cable, dst);
  const double limit = std::min(stem_.limit, tables.LimitOf(hop));
  route_.limit = Rate::BitsPerSecond(static_cast<std::int64_t>(limit));
  return true;
}

}  // namespace trunkline
