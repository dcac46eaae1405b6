#pragma once

#include <cstdint>
#include <span>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

// One routing policy is one file here and one line in registry.cc.
namespace trunkline {

// What is known where paths fork: at a NIC, a host or a switch.
struct PortView {
  std::uint32_t ports = 0;  // equally short paths
  std::uint32_t hop = 0;    // 0 at the source, counting forks and non-forks alike
  std::uint64_t flow = 0;   // hash of seed, source, destination and flow
  std::uint32_t label = 0;  // of the destination, divided by the ports of every fork before
};

struct RoutingPolicyTraits {
  RoutingPolicy policy;
  const char* name;
  const char* summary;
  // Whether a flow takes all minimal paths at once; else it takes the port that `choose` names.
  bool balances;
  // Index of the port that a packet takes. REQUIRES: ports > 0.
  std::uint32_t (*choose)(const PortView& view);
  // The share of `link` among the ports of one device, relative to the other links.
  double (*share)(const Link& link);
  // What the policy can fill of a trunk.
  Rate (*trunk_capacity)(const Fabric& fabric, std::span<const LinkId> links);
};

extern const RoutingPolicyTraits kEcmpPolicy;
extern const RoutingPolicyTraits kStaticPolicy;
extern const RoutingPolicyTraits kSprayPolicy;
extern const RoutingPolicyTraits kAdaptivePolicy;

[[nodiscard]] const RoutingPolicyTraits& TraitsOf(RoutingPolicy policy);

// Shared by policies.
[[nodiscard]] std::uint32_t HashedPort(const PortView& view);
[[nodiscard]] double EvenShare(const Link& link);
[[nodiscard]] Rate SumOfRates(const Fabric& fabric, std::span<const LinkId> links);

}  // namespace trunkline
