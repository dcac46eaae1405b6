#include "trunkline/fabric/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "fabric/router_tables.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Most paths are no longer: six cables between leaf, spine and core, and the buses of two servers.
constexpr std::size_t kUsualHops = 16;

}  // namespace

Router::Router(const Fabric& fabric, RouterOptions options) : fabric_(&fabric), options_(options) {
  TL_CHECK(0 < options.payload_bytes && options.payload_bytes <= options.wire_bytes,
           options.payload_bytes, options.wire_bytes);
  tables_ = std::make_shared<const Tables>(fabric, options);
}

Rate Router::capacity(ResourceId resource) const { return tables_->capacity(resource); }

std::span<const LinkId> Router::trunk_links(ResourceId resource) const {
  return tables_->trunk_links(resource);
}

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

std::vector<std::vector<Hop>> Router::FindDetours(DeviceId src, DeviceId dst,
                                                  std::uint64_t flow) const {
  std::vector<std::vector<Hop>> ways;
  const auto legs = tables_->FindLegs(src, dst);
  if (!legs || !legs->crosses_network || !JudgesByQueues(options_.policy)) return ways;
  std::vector<LinkId> buses;
  tables_->AppendOutwards(src, *legs, buses);
  tables_->AppendInside(dst, legs->to_destination, buses);
  const auto add = [&](std::span<const LinkId> path) {
    std::vector<Hop>& hops = ways.emplace_back();
    for (const LinkId link : path) hops.push_back(tables_->HopOf(link));
    for (const LinkId bus : buses) hops.push_back(tables_->HopOf(bus));
  };
  tables_->ForEachDetour(legs->source_nic, legs->destination_nic, flow, true, add);
  return ways;
}

Result<Route> Router::FindRoute(DeviceId src, DeviceId dst, std::uint64_t flow) const {
  RouteFinder finder(*this);
  const auto route = finder.Find(src, dst, flow);
  if (!route) return std::unexpected(route.error());
  return **route;
}

Result<const Route*> RouteFinder::Find(DeviceId src, DeviceId dst, std::uint64_t flow) {
  if (Join(src, dst)) return &route_;
  const Router::Tables& tables = *router_->tables_;
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
  if (legs->crosses_network && tables.detours()) {
    const std::size_t inside = legs->to_relay.size() + legs->from_source.size();
    for (std::size_t i = 0; i < inside; ++i) hops.push_back(tables.HopOf(path_[i]));
    tables.AppendDetours(legs->source_nic, legs->destination_nic, flow, hops);
    walk.split = network_end;
  } else {
    for (std::size_t i = 0; i < walk.split; ++i) hops.push_back(tables.HopOf(path_[i]));
  }
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

// Keeps what the route just found has in common with those between other ends of the same places.
void RouteFinder::Keep(DeviceId src, DeviceId dst) {
  const Router::Tables& tables = *router_->tables_;
  if (!tables.OnlyCableInto(src) || !tables.OnlyCableInto(dst) || path_.size() < 2) return;
  if (const std::uint32_t from = tables.destination(src); from != from_) {
    from_ = from;
    ++era_;
    stems_.resize(tables.network().destination_count());
    stem_hops_.clear();
  }
  Stem& stem = stems_[tables.destination(dst)];
  const auto inner = std::span(route_.hops).subspan(1, route_.hops.size() - 2);
  stem = {.first_hop = static_cast<std::uint32_t>(stem_hops_.size()),
          .hop_count = static_cast<std::uint32_t>(inner.size()),
          .latency = route_.latency - tables.LatencyOf(path_.front(), dst) -
                     tables.LatencyOf(path_.back(), dst),
          .limit = HUGE_VAL,
          .era = era_};
  for (const Hop& hop : inner) stem.limit = std::min(stem.limit, tables.LimitOf(hop));
  stem_hops_.insert(stem_hops_.end(), inner.begin(), inner.end());
}

// The route by the stem between two places, where that is known.
bool RouteFinder::Join(DeviceId src, DeviceId dst) {
  const Router::Tables& tables = *router_->tables_;
  const std::uint32_t before = std::exchange(to_, UINT32_MAX);
  extends_ = false;
  const auto last = tables.OnlyCableInto(dst);
  if (!last || stems_.empty()) return false;
  const std::uint32_t to = tables.destination(dst);
  if (src == source_ && to == before) {
    extends_ = true;
  } else {
    const auto back = tables.OnlyCableInto(src);
    if (!back || tables.destination(src) != from_ || stems_[to].era != era_) return false;
    const LinkId first = router_->fabric().reverse(*back);
    const Stem& stem = stems_[to];
    const auto inner = std::span(stem_hops_).subspan(stem.first_hop, stem.hop_count);
    route_.hops.resize(inner.size() + 2);
    route_.hops.front() = tables.HopOf(first);
    std::ranges::copy(inner, route_.hops.begin() + 1);
    latency_ = tables.LatencyOf(first, dst) + stem.latency;
    limit_ = std::min(stem.limit, tables.LimitOf(route_.hops.front()));
  }
  source_ = src;
  to_ = to;
  const Hop hop = tables.HopOf(*last);
  route_.hops.back() = hop;
  route_.latency = latency_ + tables.LatencyOf(*last, dst);
  route_.limit =
      Rate::BitsPerSecond(static_cast<std::int64_t>(std::min(limit_, tables.LimitOf(hop))));
  return true;
}

std::optional<Hop> RouteFinder::ReplacedFirstHop(DeviceId other, DeviceId src) const {
  const Router::Tables& tables = *router_->tables_;
  const auto into_other = tables.OnlyCableInto(other);
  const auto into_src = tables.OnlyCableInto(src);
  if (!into_other || !into_src || stems_.empty()) return std::nullopt;
  if (tables.destination(other) != from_ || tables.destination(src) != from_) return std::nullopt;
  const Fabric& fabric = router_->fabric();
  const LinkId first = fabric.reverse(*into_src);
  const LinkId theirs = fabric.reverse(*into_other);
  const Hop hop = tables.HopOf(first);
  const Hop their_hop = tables.HopOf(theirs);
  const bool alike = hop.weight == their_hop.weight &&
                     tables.LimitOf(hop) == tables.LimitOf(their_hop) &&
                     fabric.link(first).latency == fabric.link(theirs).latency;
  return alike ? std::optional(hop) : std::nullopt;
}

bool RouteFinder::KnowsStem(DeviceId dst) const {
  const Router::Tables& tables = *router_->tables_;
  return !stems_.empty() && tables.OnlyCableInto(dst) &&
         stems_[tables.destination(dst)].era == era_;
}

}  // namespace trunkline
