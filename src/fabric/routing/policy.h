#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

// One routing policy is one file here and one line in registry.cc.
namespace trunkline {

// What is known where paths fork: at a NIC, a host or a switch.
struct PortView {
  std::uint32_t ports = 0;               // among which to choose
  std::uint32_t hop = 0;                 // 0 at the source, counting forks and non-forks alike
  std::uint64_t flow = 0;                // hash of seed, source, destination and flow
  std::span<const double> weights = {};  // PortRule::kWeighted: of each port
  std::uint32_t entry = 0;               // kTable, kDigit: what the forwarding table says
};

// Which paths a policy allows.
//   kFewestHops      those of fewest cables
//   kUpDown          the shortest of those that never turn up after they have turned down
//   kDimensionOrder  of a torus: one dimension after the other
//   kGroups          of a dragonfly: cables between groups are crossed once, or twice by a detour
enum class PathRule : std::uint8_t { kFewestHops, kUpDown, kDimensionOrder, kGroups };

// What `choose` reads of a view beside the hash: with kTable what ForwardingTables say, with kDigit
// what ModK does.
enum class PortRule : std::uint8_t { kAny, kWeighted, kTable, kDigit };

// kGroups: where packets may choose the way by a group in between.
enum class DetourRule : std::uint8_t { kNever, kAlways, kAtSource, kInSourceGroup };

// Shared by policies.
[[nodiscard]] std::uint32_t HashedPort(const PortView& view);
[[nodiscard]] std::uint32_t TableEntry(const PortView& view);
[[nodiscard]] double EvenShare(const Link& link);
[[nodiscard]] Rate SumOfRates(const Fabric& fabric, std::span<const LinkId> links);

struct RoutingPolicyTraits {
  RoutingPolicy policy;
  const char* name;
  const char* summary;
  PathRule paths = PathRule::kFewestHops;
  PortRule ports = PortRule::kAny;
  DetourRule detours = DetourRule::kNever;
  PathChoice choice = PathChoice::kFlow;
  // Whether a flow takes all paths at once; else it takes the port that `choose` names.
  bool balances = false;
  // Index of the port that a packet takes. REQUIRES: ports > 0.
  std::uint32_t (*choose)(const PortView& view) = HashedPort;
  // The share of `link` among the ports of one device, relative to the other links.
  double (*share)(const Link& link) = EvenShare;
  // What the policy can fill of a trunk.
  Rate (*trunk_capacity)(const Fabric& fabric, std::span<const LinkId> links) = SumOfRates;
  std::initializer_list<const char*> keys = {};  // of RoutingParameters that it reads
};

extern const RoutingPolicyTraits kEcmpPolicy;
extern const RoutingPolicyTraits kWeightedEcmpPolicy;
extern const RoutingPolicyTraits kFlowletPolicy;
extern const RoutingPolicyTraits kStaticPolicy;
extern const RoutingPolicyTraits kFtreePolicy;
extern const RoutingPolicyTraits kMinHopPolicy;
extern const RoutingPolicyTraits kUpDownPolicy;
extern const RoutingPolicyTraits kDorPolicy;
extern const RoutingPolicyTraits kSprayPolicy;
extern const RoutingPolicyTraits kAdaptivePolicy;
extern const RoutingPolicyTraits kMinimalPolicy;
extern const RoutingPolicyTraits kValiantPolicy;
extern const RoutingPolicyTraits kUgalLPolicy;
extern const RoutingPolicyTraits kUgalGPolicy;
extern const RoutingPolicyTraits kParPolicy;
extern const RoutingPolicyTraits kDragonflyPlusPolicy;

[[nodiscard]] const RoutingPolicyTraits& TraitsOf(RoutingPolicy policy);

}  // namespace trunkline
