#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

class Fabric;
struct DeadlockProof;

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

// How packets find their way (docs/routing.md has the table; one file a policy in fabric/routing/).
// Along paths of fewest cables:
//   kEcmp          a seeded hash of (source, destination, flow) picks one
//   kWeightedEcmp  the same, ports weighted by the capacity behind them (after failures)
//   kFlowlet       as ECMP, and anew after each pause of a flow
//   kStatic        destination-modulo-k, as forwarding tables of fat trees and SimGrid do
//   kFtree         the same under the name that InfiniBand's subnet manager gives it
//   kMinHop        forwarding tables that spread destinations over ports
//   kSpray         every flow is split evenly over all of them
//   kAdaptive      the shortest queue of them; without queues, the fluid optimum
// Along others:
//   kUpDown        tables as kMinHop's, along paths that never turn up again
//   kDor           of a torus: dimension by dimension
// Between the groups of a dragonfly:
//   kMinimal       one cable between groups, a local one before and behind it at most
//   kValiant       by a random group (or router) in between
//   kUgalL, kUgalG minimal or Valiant, by the queues of the source's router or of its group's
//                  cables to others
//   kPar           as UGAL-L, and judged again at the next router of the source's group
//   kDragonflyPlus minimal while its queue is short, judged at every switch of the source's group
enum class RoutingPolicy : std::uint8_t {
  kEcmp,
  kStatic,
  kSpray,
  kAdaptive,
  kWeightedEcmp,
  kFlowlet,
  kFtree,
  kMinHop,
  kUpDown,
  kDor,
  kMinimal,
  kValiant,
  kUgalL,
  kUgalG,
  kPar,
  kDragonflyPlus
};

// What takes a path of its own: packets of one path cannot overtake each other, flowlets hardly do.
enum class PathChoice : std::uint8_t { kFlow, kFlowlet, kPacket };

struct RoutingPolicyInfo {
  RoutingPolicy policy;
  std::string name;  // as scenarios spell it: "adaptive"
  std::string summary;
  PathChoice choice = PathChoice::kFlow;
  std::vector<std::string> keys = {};  // that it reads beside its name
};
[[nodiscard]] std::vector<RoutingPolicyInfo> RoutingPolicies();
// TL1412: unknown name, with a did-you-mean.
[[nodiscard]] Result<RoutingPolicy> ParseRoutingPolicy(std::string_view name);
[[nodiscard]] const char* ToString(RoutingPolicy policy);
[[nodiscard]] PathChoice PathChoiceOf(RoutingPolicy policy);
// Whether packets leave minimal paths where queues say so, as UGAL's do.
[[nodiscard]] bool JudgesByQueues(RoutingPolicy policy);

// How `adaptive` compares queues: InfiniBand by their bytes, Ethernet by coarse grades among which
// a hash decides.
enum class AdaptiveStyle : std::uint8_t { kInfiniband, kEthernet };

// What policies read beside their names.
struct RoutingParameters {
  // ecmp, weighted-ecmp, flowlet: each switch hashes with a seed of its own. Without, all hash
  // alike, and a tier repeats the choices of the one below (polarisation).
  bool seed_per_switch = true;
  // flowlet: a flow that pauses for longer may take another path. 256 us is the lower of the gaps
  // that Meta tried (Gangidi and others, SIGCOMM 2024, section 4.4).
  Time flowlet_gap = Time::Microseconds(256);
  AdaptiveStyle style = AdaptiveStyle::kInfiniband;  // adaptive
  // valiant, ugal-l, ugal-g, par: by a router of the group in between rather than by the group: one
  // local cable and one virtual channel more, and no bad shifts.
  bool via_router = false;
  // ugal-l, ugal-g, par: what a minimal path's queue times its hops may be longer by than a
  // Valiant one's; dragonfly-plus: minimal up to this queue.
  Bytes threshold{0};
  // Whether packets change virtual channel (InfiniBand's lanes, Ethernet's classes) from hop to
  // hop where the policy needs it against deadlock; absent: under credits they do.
  std::optional<bool> virtual_channels = {};
};

// Whether a policy can route a fabric: empty, or TL1413 with what can.
[[nodiscard]] Diagnostics CheckRouting(const Fabric& fabric, RoutingPolicy policy);

// Virtual channels among which packets of a class change; `cables_fail`: cables may be down for a
// while. REQUIRES: CheckRouting finds nothing.
[[nodiscard]] std::uint32_t VirtualChannels(const Fabric& fabric, RoutingPolicy policy,
                                            const RoutingParameters& parameters,
                                            bool cables_fail = false);

// Whether the NIC reads and writes GPU memory itself or data is staged in host memory.
enum class GpuDirect : std::uint8_t { kOn, kOff };

struct RouterOptions {
  RoutingPolicy policy = RoutingPolicy::kAdaptive;
  GpuDirect gpudirect = GpuDirect::kOn;
  std::uint64_t seed = 1;
  // Wire bytes per payload byte on network links, as a ratio (headers of the transport).
  std::int64_t wire_bytes = 1;
  std::int64_t payload_bytes = 1;
  RoutingParameters parameters = {};
};

// Finds the path of a flow through a fabric. Immutable; safe for concurrent readers.
//
// Inside a node: NVLink where both ends have it (through the NVSwitch or directly), else PCIe.
// Between nodes: GPU, PCIe switch, the NIC nearest to the GPU, the network's minimal paths under
// the policy, and the same inwards at the other end; GpuDirect::kOff inserts host memory (the CPU).
class Router {
 public:
  // REQUIRES: `fabric` outlives the router; CheckRouting finds nothing; 0 < payload_bytes <=
  // wire_bytes.
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

  // Under a policy that JudgesByQueues: the hops of each way by another group that a flow may take
  // in place of its minimal path, FindRoute's, each as if it took that way wholly. Empty: there are
  // none. REQUIRES: as FindRoute.
  [[nodiscard]] std::vector<std::vector<Hop>> FindDetours(DeviceId src, DeviceId dst,
                                                          std::uint64_t flow) const;

  // Capacity of a resource: a link's rate; for a trunk the rate that its policy can fill
  // (kSpray: links x slowest link; kAdaptive: the sum).
  // Where cables are missing, kAdaptive's routes cross parts of trunks as well: the links of one
  // that lead to some destinations, numbered from Fabric::resource_count() on.
  [[nodiscard]] Rate capacity(ResourceId resource) const;
  // The links of a trunk, or of a part; none for what only bounds others, the cuts between leaves.
  // REQUIRES: `resource` is no link.
  [[nodiscard]] std::span<const LinkId> trunk_links(ResourceId resource) const;

  // The NIC that serves a GPU: the one fewest PCIe hops away. A host is its own NIC. Fails with
  // TL1410 when the GPU reaches none.
  [[nodiscard]] Result<DeviceId> nic(DeviceId endpoint) const;

 private:
  class Tables;
  friend class RouteFinder;
  friend DeadlockProof ProveDeadlockFree(const Router& router, bool virtual_channels);

  const Fabric* fabric_;
  RouterOptions options_;
  std::shared_ptr<const Tables> tables_;
};

// Finds many routes: Router::FindRoute without an allocation each, and without a walk where the
// only path has been walked before but for its ends.
class RouteFinder {
 public:
  // REQUIRES: `router` outlives the finder.
  explicit RouteFinder(const Router& router) : router_(&router) {}

  // As Router::FindRoute. The route is good until the next call.
  [[nodiscard]] Result<const Route*> Find(DeviceId src, DeviceId dst, std::uint64_t flow);
  // Whether the route found last differs from the one before in its last hop alone.
  [[nodiscard]] bool extends() const { return extends_; }
  // The first hop of routes from `src` into the network, where routes from `other` are the same but
  // for this hop, which costs as much as theirs: those to which KnowsStem, if found since the
  // routes that were found last were from `other` or others of its place. Nothing: they may differ
  // more.
  [[nodiscard]] std::optional<Hop> ReplacedFirstHop(DeviceId other, DeviceId src) const;
  [[nodiscard]] bool KnowsStem(DeviceId dst) const;

 private:
  // What a route has between its first cable and its last, where there is one way.
  struct Stem {
    std::uint32_t first_hop = 0;
    std::uint32_t hop_count = 0;
    Time latency;
    double limit = 0;
    std::uint32_t era = 0;  // when it was found; another than now: not known
  };

  bool Join(DeviceId src, DeviceId dst);
  void Keep(DeviceId src, DeviceId dst);

  const Router* router_;
  Route route_;
  // From the ends at one place (NetworkPaths::destination) to those at each other.
  std::uint32_t from_ = UINT32_MAX;
  std::uint32_t era_ = 0;    // counts the places that these were
  std::vector<Stem> stems_;  // by place; empty: not needed so far
  std::vector<Hop> stem_hops_;
  // Of the route found last, where it has a stem.
  DeviceId source_{};
  std::uint32_t to_ = UINT32_MAX;
  Time latency_;      // but for the last cable
  double limit_ = 0;  // …
  bool extends_ = false;
  std::vector<LinkId> path_;
  std::vector<LinkId> scratch_;
};

}  // namespace trunkline
