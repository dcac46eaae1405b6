#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/network_paths.h"
#include "fabric/node_paths.h"
#include "fabric/routing/forwarding_tables.h"
#include "fabric/routing/group_routes.h"
#include "fabric/routing/mod_k.h"
#include "fabric/routing/policy.h"
#include "fabric/trunk_parts.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// The paths among which a policy of that rule chooses, between switches. Dimension order leaves
// some of them, and groups have paths of their own (group_routes.h).
[[nodiscard]] NetworkPaths NetworkOf(const Fabric& fabric, PathRule rule);

// What a Router knows of its fabric, and how it walks through it.
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
  [[nodiscard]] std::span<const LinkId> trunk_links(ResourceId resource) const;
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
    std::size_t split = 0;  // from where on AppendSplit has the flow's hops, or path.size()
    bool forks = false;     // there are other minimal paths
  };
  // The one path of a packet through the network.
  Walk AppendNetwork(DeviceId src, DeviceId dst, std::uint64_t flow, std::vector<LinkId>& path,
                     std::vector<LinkId>& scratch) const;

  // Whether a flow takes many ways that are no trunk: those of AppendDetours.
  [[nodiscard]] bool detours() const { return policy_.detours == DetourRule::kAlways; }
  // The hops between two attached devices of a flow that is split evenly over ways by other groups,
  // where their own are drawn over minimal paths.
  void AppendDetours(DeviceId src, DeviceId dst, std::uint64_t flow, std::vector<Hop>& hops) const;
  // The links of each of these ways; `alone`: without minimal paths.
  void ForEachDetour(DeviceId src, DeviceId dst, std::uint64_t flow, bool alone,
                     const std::function<void(std::span<const LinkId>)>& take) const;

  [[nodiscard]] const NetworkPaths& network() const { return network_; }
  // Null unless the policy goes from group to group.
  [[nodiscard]] const GroupRoutes* groups() const { return groups_ ? &*groups_ : nullptr; }
  // The switch at the first cable of an attached NIC or host.
  [[nodiscard]] DeviceId SwitchOf(DeviceId end) const;
  // Whether a network path joins two NICs.
  [[nodiscard]] bool Joins(DeviceId source_nic, DeviceId destination_nic) const;

  // The cable into `dst` where it ends at `dst` that a path through the network does, and there is
  // no other.
  [[nodiscard]] std::optional<LinkId> OnlyCableInto(DeviceId dst) const {
    return network_.OnlyCableInto(dst);
  }
  [[nodiscard]] std::uint32_t destination(DeviceId dst) const { return network_.destination(dst); }
  // What `link` adds to the latency of a path to `dst`.
  [[nodiscard]] Time LatencyOf(LinkId id, DeviceId dst) const {
    const Link& link = fabric_.link(id);
    return link.to == dst ? link.latency : link.latency + fabric_.device(link.to).latency;
  }
  // What the hop leaves of a lone flow's rate, in bit/s.
  [[nodiscard]] double LimitOf(const Hop& hop) const {
    const std::size_t index = Index(hop.resource);
    const Rate rate =
        index < fabric_.link_count() ? fabric_.link(LinkId(index)).rate : capacity(hop.resource);
    return static_cast<double>(rate.bits_per_second()) / hop.weight;
  }

  [[nodiscard]] Hop HopOf(LinkId id) const {
    const Link& link = fabric_.link(id);
    if (link.kind != LinkKind::kNetwork) return {Fabric::resource(id), 1};
    const bool trunk = uses_trunks_ && link.trunk != Link::kNoTrunk;
    return {trunk ? fabric_.trunk_resource(link.trunk) : Fabric::resource(id), wire_weight_};
  }
  // The hops of a flow from `at` to `dst`, an attached device, where the flow is split link by link
  // wherever no trunk stands for a fork. Of trunks that it cannot use wholly, it crosses the parts
  // that it can as well.
  void AppendSplit(DeviceId at, DeviceId dst, std::vector<Hop>& hops) const;

 private:
  [[nodiscard]] std::uint64_t HashOf(DeviceId src, DeviceId dst, std::uint64_t flow) const {
    const std::uint64_t pair = (std::uint64_t{Index(src)} << 32) | Index(dst);
    return Draw(seed_, pair, flow);
  }
  // The ports of `at` towards `dst` that the policy's rule allows.
  [[nodiscard]] NetworkPaths::Ports Next(DeviceId at, DeviceId dst,
                                         std::vector<LinkId>& scratch) const;
  // What the network carries from a switch towards the switch of `dst`, in bytes/s; `known` holds
  // what has been found.
  [[nodiscard]] double CapacityTowards(DeviceId at, DeviceId dst,
                                       std::map<DeviceId, double>& known) const;
  // The path by `via`, where that is a detour, or the minimal one.
  void AppendGroups(DeviceId src, DeviceId dst, std::uint64_t hash, const GroupRoutes::Goal* via,
                    std::vector<LinkId>& path) const;
  [[nodiscard]] bool JoinsGroups(DeviceId src, DeviceId dst) const;
  [[nodiscard]] std::uint32_t goal_count() const {
    return parameters_.via_router ? groups_->switch_count() : groups_->group_count();
  }
  [[nodiscard]] GroupRoutes::Goal GoalOf(std::uint32_t index) const {
    return parameters_.via_router ? groups_->ToSwitch(index) : GroupRoutes::Goal{.group = index};
  }
  [[nodiscard]] bool IsSplit(const NetworkPaths::Ports& ports) const {
    return policy_.balances && ports.links.size() > 1 &&
           !(uses_trunks_ && ports.trunk != Link::kNoTrunk);
  }
  // Whether flows may be unable to use all of the trunk that the links are in.
  [[nodiscard]] bool IsPartial(const NetworkPaths::Ports& ports) const {
    const std::uint32_t trunk = fabric_.link(ports.links.front()).trunk;
    return parts_ != nullptr && trunk != Link::kNoTrunk && partial_trunks_[trunk];
  }
  struct Share {  // a part of a flow, and where it is
    DeviceId at{};
    double part = 0;
  };
  struct TrunkShare {  // a part of a flow on one link of a trunk
    Hop hop;
    LinkId link{};
  };
  // The hops on trunks of links that are equally far along a flow's paths.
  void AppendTrunks(std::vector<TrunkShare>& shares, std::vector<Hop>& hops) const;
  // Of trunks that are uneven: those of leaves with cuts.
  void MarkTrunksWithCuts();
  // The cuts between two leaves that a whole flow crosses from one to the other by `spines`.
  void AppendCuts(DeviceId from, std::span<const Share> spines, DeviceId to,
                  std::vector<Hop>& hops) const;
  [[nodiscard]] std::optional<DeviceId> FindRelay(DeviceId src, DeviceId destination_nic) const;
  [[nodiscard]] std::unexpected<Diagnostics> NoPath(DeviceId src, DeviceId dst) const;

  const Fabric& fabric_;
  const RoutingPolicyTraits& policy_;
  RoutingParameters parameters_;
  NodePaths inside_;
  NetworkPaths network_;
  std::optional<ForwardingTables> tables_;  // PortRule::kTable
  std::optional<ModK> mod_k_;               // PortRule::kDigit
  std::optional<GroupRoutes> groups_;       // PathRule::kGroups
  double wire_weight_;
  std::uint64_t seed_;
  bool uses_trunks_ = false;
  std::vector<bool> partial_trunks_;  // not whole, or of a leaf with cuts
  std::vector<Rate> trunk_capacity_;
  std::unique_ptr<TrunkParts> parts_;  // null: no trunk is partial
};

}  // namespace trunkline
