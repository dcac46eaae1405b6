#include "fabric/router_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "fabric/routing/heights.h"
#include "fabric/routing/torus_order.h"
#include "fabric/trunks.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Names the draws of routing among all users of one seed.
constexpr std::uint64_t kRoutingStream = 0x726f7574696e67;  // "routing"

// A fluid Valiant flow is split over as many groups (or routers) in between: all of them where
// there are no more, else as many drawn by its hash.
constexpr std::uint32_t kMostDetours = 64;

std::string Switches(std::size_t count) {
  return count == 1 ? "one switch" : fmt::format("{} switches", count);
}

}  // namespace

NetworkPaths NetworkOf(const Fabric& fabric, PathRule rule) {
  return rule == PathRule::kUpDown ? NetworkPaths(fabric, SwitchHeights(fabric))
                                   : NetworkPaths(fabric);
}

Router::Tables::Tables(const Fabric& fabric, const RouterOptions& options)
    : fabric_(fabric),
      policy_(TraitsOf(options.policy)),
      parameters_(options.parameters),
      inside_(fabric, options.gpudirect),
      network_(NetworkOf(fabric, policy_.paths)),
      wire_weight_(static_cast<double>(options.wire_bytes) /
                   static_cast<double>(options.payload_bytes)),
      seed_(HashCombine(options.seed, kRoutingStream)) {
  if (policy_.ports == PortRule::kTable) {
    tables_.emplace(fabric_, network_);  // asks for every destination
  } else {
    network_.SearchFewSingly();
  }
  if (policy_.ports == PortRule::kDigit) mod_k_.emplace(fabric_);
  if (policy_.paths == PathRule::kGroups) groups_.emplace(fabric_);
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    trunk_capacity_.push_back(policy_.trunk_capacity(fabric, fabric.trunk_links(trunk)));
  }
  if (options.policy == RoutingPolicy::kSpray) uses_trunks_ = TrunksAreWhole(fabric);
  if (options.policy != RoutingPolicy::kAdaptive) return;
  uses_trunks_ = true;
  partial_trunks_ = FindWholeTrunks(fabric);
  partial_trunks_.flip();
  parts_ = std::make_unique<TrunkParts>(fabric);
  if (!TrunksAreEven(fabric)) MarkTrunksWithCuts();
  if (std::ranges::find(partial_trunks_, true) == partial_trunks_.end()) parts_.reset();
}

void Router::Tables::MarkTrunksWithCuts() {
  for (std::uint32_t trunk = 0; trunk < fabric_.trunk_count(); ++trunk) {
    for (const LinkId id : fabric_.trunk_links(trunk)) {
      const Link& link = fabric_.link(id);
      const bool up = fabric_.device(link.from).tier < fabric_.device(link.to).tier;
      const DeviceId leaf = up ? link.from : link.to;
      if (fabric_.device(leaf).kind != DeviceKind::kSwitch) continue;
      if (parts_->HasCuts(leaf, up ? CutSide::kUp : CutSide::kDown)) partial_trunks_[trunk] = true;
    }
  }
}

Rate Router::Tables::capacity(ResourceId resource) const {
  const std::size_t index = Index(resource);
  if (index < fabric_.link_count()) return fabric_.link(LinkId(index)).rate;
  if (index < fabric_.resource_count()) return trunk_capacity_[index - fabric_.link_count()];
  return parts_->capacity(resource);
}

std::span<const LinkId> Router::Tables::trunk_links(ResourceId resource) const {
  if (Index(resource) >= fabric_.resource_count()) return parts_->links(resource);
  return fabric_.trunk_links(static_cast<std::uint32_t>(Index(resource) - fabric_.link_count()));
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
         network_.Distance(source_nic, destination_nic) != NetworkPaths::kUnreachable &&
         (!groups_ || JoinsGroups(source_nic, destination_nic));
}

// Where rails are not joined, the GPU of the source's node that forwards: the first one NVLink (or
// xGMI) leads to whose NIC reaches the destination's, counted from the index of that NIC on.
std::optional<DeviceId> Router::Tables::FindRelay(DeviceId src, DeviceId destination_nic) const {
  if (fabric_.device(src).kind != DeviceKind::kGpu) return std::nullopt;
  const std::uint32_t node = fabric_.device(src).node;
  const auto endpoints = fabric_.endpoints();
  const auto own = std::ranges::equal_range(endpoints, node, {},
                                            [&](DeviceId gpu) { return fabric_.device(gpu).node; });
  const std::span<const DeviceId> gpus(own.begin(), own.end());
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

NetworkPaths::Ports Router::Tables::Next(DeviceId at, DeviceId dst,
                                         std::vector<LinkId>& scratch) const {
  const NetworkPaths::Ports ports = network_.Next(at, dst, scratch);
  if (policy_.paths != PathRule::kDimensionOrder || ports.links.size() == 1 ||
      fabric_.device(at).kind != DeviceKind::kSwitch || !network_.Forwards(at, dst)) {
    return ports;
  }
  std::vector<LinkId> kept;
  KeepFirstDimension(fabric_, at, SwitchOf(dst), ports.links, kept);
  scratch.swap(kept);
  return {scratch};
}

DeviceId Router::Tables::SwitchOf(DeviceId end) const {
  const auto cables = fabric_.out(end);
  return fabric_
      .link(*std::ranges::find(cables, LinkKind::kNetwork,
                               [&](LinkId link) { return fabric_.link(link).kind; }))
      .to;
}

double Router::Tables::CapacityTowards(DeviceId at, DeviceId dst,
                                       std::map<DeviceId, double>& known) const {
  if (fabric_.device(at).kind != DeviceKind::kSwitch || !network_.Forwards(at, dst)) {
    return HUGE_VAL;
  }
  if (const auto found = known.find(at); found != known.end()) return found->second;
  std::vector<LinkId> scratch;
  double sum = 0;
  for (const LinkId id : network_.Next(at, dst, scratch).links) {
    const Link& link = fabric_.link(id);
    sum += std::min(link.rate.bytes_per_second(), CapacityTowards(link.to, dst, known));
  }
  known.emplace(at, sum);
  return sum;
}

Router::Tables::Walk Router::Tables::AppendNetwork(DeviceId src, DeviceId dst, std::uint64_t flow,
                                                   std::vector<LinkId>& path,
                                                   std::vector<LinkId>& scratch) const {
  PortView view{.flow = HashOf(src, dst, flow)};
  if (groups_) {
    const auto via = GoalOf(static_cast<std::uint32_t>(Below(view.flow, goal_count())));
    AppendGroups(src, dst, view.flow, detours() ? &via : nullptr, path);
    return {path.size(), true};
  }
  std::optional<std::size_t> split;
  const std::size_t begin = path.size();
  bool forks = false;
  std::map<DeviceId, double> known;
  std::vector<double> weights;
  for (DeviceId at = src; at != dst; at = fabric_.link(path.back()).to) {
    const NetworkPaths::Ports ports = Next(at, dst, scratch);
    if (!split && IsSplit(ports)) split = path.size();
    if (IsPartial(ports)) split = begin;
    view.ports = static_cast<std::uint32_t>(ports.links.size());
    if (view.ports == 1) {
      path.push_back(ports.links.front());
    } else {
      forks = true;
      if (policy_.ports == PortRule::kWeighted) {
        weights.clear();
        for (const LinkId id : ports.links) {
          const Link& link = fabric_.link(id);
          weights.push_back(
              std::min(link.rate.bytes_per_second(), CapacityTowards(link.to, dst, known)));
        }
        view.weights = weights;
      } else if (tables_) {
        const bool table = fabric_.device(at).kind == DeviceKind::kSwitch;
        view.entry = table ? tables_->Entry(at, dst) : HashedPort(view);
      } else if (mod_k_) {
        view.entry = mod_k_->Entry(at, network_.label(dst), ports.links);
      }
      path.push_back(ports.links[policy_.choose(view)]);
    }
    if (parameters_.seed_per_switch) ++view.hop;
  }
  return {split.value_or(path.size()), forks};
}

bool Router::Tables::JoinsGroups(DeviceId src, DeviceId dst) const {
  const std::uint32_t from = groups_->switch_of(SwitchOf(src));
  const std::uint32_t to = groups_->switch_of(SwitchOf(dst));
  return groups_->Hops(from, groups_->ToSwitch(to)) < GroupRoutes::kUnreachable;
}

void Router::Tables::AppendGroups(DeviceId src, DeviceId dst, std::uint64_t hash,
                                  const GroupRoutes::Goal* via, std::vector<LinkId>& path) const {
  std::vector<LinkId> ports;
  path.push_back(network_.Next(src, dst, ports).links.front());
  std::uint32_t at = groups_->switch_of(SwitchOf(src));
  const std::uint32_t last = groups_->switch_of(SwitchOf(dst));
  const GroupRoutes::Goal home = groups_->ToSwitch(last);
  const bool detour = via != nullptr && groups_->IsDetour(at, *via, home);
  GroupRoutes::Goal goal = detour ? *via : home;
  const std::size_t most = path.size() + 2 * groups_->switch_count();
  for (std::uint32_t hop = 1; at != last; ++hop) {
    if (groups_->Reached(at, goal)) goal = home;
    ports.clear();
    groups_->ForEachNext(at, goal, [&](LinkId link) { ports.push_back(link); });
    TL_CHECK(!ports.empty() && path.size() <= most, "a way between groups that leads nowhere",
             Index(src), Index(dst));
    path.push_back(ports[Below(HashCombine(hash, hop), ports.size())]);
    at = groups_->switch_of(fabric_.link(path.back()).to);
  }
  for (const LinkId link : fabric_.out(dst)) {
    if (fabric_.link(link).kind == LinkKind::kNetwork) path.push_back(fabric_.reverse(link));
  }
}

void Router::Tables::AppendDetours(DeviceId src, DeviceId dst, std::uint64_t flow,
                                   std::vector<Hop>& hops) const {
  std::map<ResourceId, double> weights;
  std::uint32_t ways = 0;
  ForEachDetour(src, dst, flow, false, [&](std::span<const LinkId> path) {
    ++ways;
    for (const LinkId link : path) {
      const Hop hop = HopOf(link);
      weights[hop.resource] += hop.weight;
    }
  });
  for (const auto& [resource, weight] : weights) hops.push_back({resource, weight / ways});
}

void Router::Tables::ForEachDetour(DeviceId src, DeviceId dst, std::uint64_t flow, bool alone,
                                   const std::function<void(std::span<const LinkId>)>& take) const {
  const std::uint64_t hash = HashOf(src, dst, flow);
  const std::uint32_t at = groups_->switch_of(SwitchOf(src));
  const GroupRoutes::Goal home = groups_->ToSwitch(groups_->switch_of(SwitchOf(dst)));
  const std::uint32_t draws = std::min(goal_count(), kMostDetours);
  std::vector<LinkId> path;
  for (std::uint32_t i = 0; i < draws; ++i) {
    const bool all = draws == goal_count();
    const std::uint64_t drawn = all ? i : Below(HashCombine(hash, i), goal_count());
    const auto via = GoalOf(static_cast<std::uint32_t>(drawn));
    if (alone && !groups_->IsDetour(at, via, home)) continue;
    path.clear();
    AppendGroups(src, dst, HashCombine(hash, i), &via, path);
    take(path);
  }
}

void Router::Tables::AppendSplit(DeviceId from, DeviceId dst, std::vector<Hop>& hops) const {
  // Minimal paths advance one link at a time, so all parts of the flow are equally far along.
  std::vector<Share> shares = {{.at = from, .part = 1}};
  std::vector<Share> before;  // where they were one link ago
  std::vector<Share> next;
  std::vector<TrunkShare> trunks;
  std::vector<LinkId> scratch;
  std::optional<DeviceId> leaf;  // where the whole flow was two links ago
  while (shares.front().at != dst) {
    next.clear();
    for (const auto& [at, part] : shares) {
      NetworkPaths::Ports ports = Next(at, dst, scratch);
      // One link of a trunk that is whole stands for all.
      if (parts_ == nullptr && !IsSplit(ports)) ports.links = ports.links.first(1);
      double total = 0;
      for (LinkId link : ports.links) total += policy_.share(fabric_.link(link));
      for (LinkId link : ports.links) {
        const double share = part * policy_.share(fabric_.link(link)) / total;
        Hop hop = HopOf(link);
        hop.weight *= share;
        if (Index(hop.resource) < fabric_.link_count()) {
          hops.push_back(hop);
        } else {
          trunks.push_back({hop, link});
        }
        next.push_back({fabric_.link(link).to, share});
      }
    }
    AppendTrunks(trunks, hops);
    trunks.clear();
    leaf = before.size() == 1 ? std::optional(before.front().at) : std::nullopt;
    before.swap(shares);
    // By size as well: sums of what is alike are then equal to the last bit.
    std::ranges::sort(next, {}, [](const Share& share) { return std::pair(share.at, share.part); });
    shares.clear();
    for (const Share& share : next) {
      if (shares.empty() || shares.back().at != share.at) {
        shares.push_back(share);
      } else {
        shares.back().part += share.part;
      }
    }
    if (parts_ != nullptr && leaf && shares.size() == 1) {
      AppendCuts(*leaf, before, shares.front().at, hops);
    }
  }
}

void Router::Tables::AppendCuts(DeviceId from, std::span<const Share> spines, DeviceId to,
                                std::vector<Hop>& hops) const {
  const auto tier = [&](DeviceId device) { return fabric_.device(device).tier; };
  const std::uint8_t lower = std::max(tier(from), tier(to));
  if (tier(from) == 0 || tier(to) == 0) return;  // an end
  if (!std::ranges::all_of(spines, [&](const Share& spine) { return tier(spine.at) > lower; })) {
    return;
  }
  for (const ResourceId cut : parts_->FindCutsOf(from, CutSide::kUp, to)) {
    hops.push_back({cut, wire_weight_});
  }
  for (const ResourceId cut : parts_->FindCutsOf(to, CutSide::kDown, from)) {
    hops.push_back({cut, wire_weight_});
  }
}

void Router::Tables::AppendTrunks(std::vector<TrunkShare>& shares, std::vector<Hop>& hops) const {
  std::ranges::sort(shares, {}, [](const TrunkShare& share) {
    return std::pair(share.hop.resource, share.link);
  });
  std::vector<LinkId> links;
  for (std::size_t i = 0; i < shares.size();) {
    Hop hop = {shares[i].hop.resource, 0};
    links.clear();
    for (; i < shares.size() && shares[i].hop.resource == hop.resource; ++i) {
      hop.weight += shares[i].hop.weight;
      links.push_back(shares[i].link);
    }
    hops.push_back(hop);
    if (parts_ == nullptr || links.size() == trunk_links(hop.resource).size()) continue;
    hops.push_back({parts_->Find(links, SumOfRates(fabric_, links)), hop.weight});
  }
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
  if (groups_ && network_.Distance(source_nic, destination_nic) != NetworkPaths::kUnreachable) {
    return Error("TL1410", what,
                 fmt::format("no cable joins their groups, and no third group is joined to both; a "
                             "policy that passes more: {}, say",
                             ToString(RoutingPolicy::kEcmp)));
  }
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
  bool joined = false;
  for (LinkId link : fabric_.out(destination_nic)) {
    if (fabric_.link(link).kind != LinkKind::kNetwork) continue;
    far_side = fabric_.name(fabric_.link(link).to);
    joined = joined || reached.contains(fabric_.link(link).to);
  }
  if (joined) {  // under another policy
    return Error("TL1410", what + ", under this routing",
                 fmt::format("cables join {} to {}, but every way there turns up again after it "
                             "has turned down, which {} forbids: {} takes them, or join both by a "
                             "switch above",
                             fabric_.name(source_nic), far_side, policy_.name,
                             ToString(RoutingPolicy::kMinHop)));
  }
  return Error("TL1410", what,
               fmt::format("{} reaches {}, and no cable leads from there to {} or beyond; "
                           "forward inside the node first, or join them by a higher tier",
                           fabric_.name(source_nic), Switches(reached.size() - 1), far_side));
}

}  // namespace trunkline
