#include "trunkline/fabric/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
