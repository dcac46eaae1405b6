#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

class Fabric;

// What one payload byte of a flow takes: `weight` bytes of each resource (>= 1 where headers or
// link-level coding cost capacity, < 1 where the flow is split over parallel links).
struct Hop {
  ResourceId resource{};
  double weight = 1;
};

struct Route {
  std::vector<Hop> hops;
  Time latency;  // the sum over the links one packet crosses, switches included
  Rate limit;    // what a lone flow gets: min over hops of capacity / weight, rounded down
};

// How flows choose among minimal paths (design: one file a policy in fabric/routing/).
//   kEcmp      a seeded hash of (source, destination, flow) picks one path
//   kStatic    destination-modulo-k, as InfiniBand's forwarding tables and SimGrid's fat tree do
//   kSpray     every flow is split evenly over all minimal paths
//   kAdaptive  the fluid optimum over the minimal paths; optimistic
enum class RoutingPolicy : std::uint8_t { kEcmp, kStatic, kSpray, kAdaptive };

struct RoutingPolicyInfo {
  RoutingPolicy policy;
  std::string name;  // as scenarios spell it: "adaptive"
  std::string summary;
};
[[nodiscard]] std::vector<RoutingPolicyInfo> RoutingPolicies();
// TL1412: unknown name, with a did-you-mean.
[[nodiscard]] Result<RoutingPolicy> ParseRoutingPolicy(std::string_view name);
[[nodiscard]] const char* ToString(RoutingPolicy policy);

// Whether the NIC reads and writes GPU memory itself or data is staged in host memory.
enum class GpuDirect : std::uint8_t { kOn, kOff };

struct RouterOptions {
  RoutingPolicy policy = RoutingPolicy::kAdaptive;
  GpuDirect gpudirect = GpuDirect::kOn;
  std::uint64_t seed = 1;
  // Wire bytes per payload byte on network links, as a ratio (headers of the transport).
  std::int64_t wire_bytes = 1;
  std::int64_t payload_bytes = 1;
};

// Finds the path of a flow through a fabric. Immutable; safe for concurrent readers.
//
// Inside a node: NVLink where both ends have it (through the NVSwitch or directly), else PCIe.
// Between nodes: GPU, PCIe switch, the NIC nearest to the GPU, the network's minimal paths under
// the policy, and the same inwards at the other end; GpuDirect::kOff inserts host memory (the CPU).
class Router {
 public:
  // REQUIRES: `fabric` outlives the router; 0 < payload_bytes <= wire_bytes.
  Router(const Fabric& fabric, RouterOptions options);

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
  [[nodiscard]] const RouterOptions& options() const { return options_; }

  // REQUIRES: src and dst are endpoints or NICs; src != dst. `flow` tells flows of the same pair
  // apart under kEcmp. Fails with TL1410 when no path exists.
  [[nodiscard]] Result<Route> FindRoute(DeviceId src, DeviceId dst, std::uint64_t flow) const;

  // One concrete path, link by link, that FindRoute's route takes (or one of those it balances
  // over, chosen by `flow`).
  [[nodiscard]] Result<std::vector<LinkId>> FindPath(DeviceId src, DeviceId dst,
                                                     std::uint64_t flow) const;

  // Capacity of a resource: a link's rate; for a trunk the rate that its policy can fill
  // (kSpray: links x slowest link; kAdaptive: the sum).
  [[nodiscard]] Rate capacity(ResourceId resource) const;

  // The NIC that serves a GPU: the one fewest PCIe hops away. A host is its own NIC. Fails with
  // TL1410 when the GPU reaches none.
  [[nodiscard]] Result<DeviceId> nic(DeviceId endpoint) const;

 private:
  class Tables;
  friend class RouteFinder;

  const Fabric* fabric_;
  RouterOptions options_;
  std::shared_ptr<const Tables> tables_;
};

// Finds many routes: Router::FindRoute without an allocation each, and by the last hop alone where
// the only path to the destination is that of the call before up to the last switch.
class RouteFinder {
 public:
  // REQUIRES: `router` outlives the finder.
  explicit RouteFinder(const Router& router) : router_(&router) {}

  // As Router::FindRoute. The route is good until the next call.
  [[nodiscard]] Result<const Route*> Find(DeviceId src, DeviceId dst, std::uint64_t flow);

 private:
  // What all hops but the last make of a route, where there is one path to the last switch.
  struct Stem {
    DeviceId source{};
    std::uint32_t destinations = 0;  // NetworkPaths::destination
    Time latency;
    double limit = 0;
    bool valid = false;
  };

  bool Extend(DeviceId src, DeviceId dst);
  void Keep(DeviceId src, DeviceId dst);

  const Router* router_;
  Route route_;
  Stem stem_;
  std::vector<LinkId> path_;
  std::vector<LinkId> scratch_;
};

}  // namespace trunkline
