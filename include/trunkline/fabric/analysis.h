#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

// What a fabric is and what it can carry, without simulating anything.
namespace trunkline {

// The switches of one tier (1 leaf, 2 spine, 3 core).
struct TierSummary {
  std::uint8_t tier = 0;
  std::string name;
  std::uint64_t switches = 0;
  std::uint64_t cables_up = 0;  // to higher tiers
  std::uint32_t ports = 0;      // of the switch with the most cables
  // Downward over upward rate of the worst switch, and these rates; sideways cables count as
  // upward. 0: nothing leads up.
  double oversubscription = 0;
  Rate down = {};
  Rate up = {};
};

struct FabricCounts {
  std::uint64_t nodes = 0;
  std::uint64_t gpus = 0;
  std::uint64_t nics = 0;  // hosts included
  std::vector<TierSummary> tiers = {};
  std::uint64_t host_cables = 0;    // NIC to switch
  std::uint64_t switch_cables = 0;  // between switches
  // Rate of all NICs over the upward rate of the narrowest tier; 1 where no tier is above a leaf.
  double oversubscription = 1;
  // Cables that would join every pair of NICs directly: N(N-1)/2.
  std::uint64_t full_mesh_cables = 0;
};

// Over ordered pairs of NICs in different nodes, on minimal paths.
struct HopStatistics {
  std::uint32_t diameter_switches = 0;  // the most switches on a path
  std::uint32_t diameter_links = 0;     // cables: one more than switches
  double mean_switches = 0;
  double mean_links = 0;
  double unreachable = 0;  // part of the pairs without a path, which the others leave out
  struct Share {
    std::uint32_t switches = 0;
    double pairs = 0;  // part of the reachable ones
  };
  std::vector<Share> distribution = {};  // nearest first
};

// The 5M/n that some texts give for the switches of a fat tree of M servers and n-port switches.
// It is the count of a full k-ary fat tree of three tiers with one NIC a server (5k^2/4 switches
// for k^3/4 servers) and of no other.
struct SwitchEstimate {
  double estimate = 0;
  std::uint64_t servers = 0;
  std::uint32_t ports = 0;  // of a switch: those known, or the most that one uses
  std::uint64_t switches = 0;
  std::vector<std::string> why_not;  // what of the fabric it does not assume; empty: it holds
};
// `radix`: ports of a switch; 0: unknown.
[[nodiscard]] SwitchEstimate EstimateSwitches(const FabricCounts& counts, std::uint32_t radix = 0);

struct FabricAnalysis {
  FabricCounts counts;
  HopStatistics hops;
  Bisection bisection;  // of the nodes, none of which is split
  // NICs of that half of the nodes that has fewest: half of all where nodes are alike.
  std::uint64_t fewest_nics_of_half = 0;
  // One way of halving the units (leaves, racks, scale units) that has the least capacity between
  // its sides, exactly by max-flow; absent where there are too many ways to try or units to halve.
  std::optional<Rate> worst_half_by_unit;
};

[[nodiscard]] FabricCounts CountParts(const Fabric& fabric);
[[nodiscard]] HopStatistics CountHops(const Fabric& fabric);

// Capacity between two sets of nodes through the network, one direction, exactly (max-flow).
// REQUIRES: side.size() == fabric.node_count().
[[nodiscard]] Rate CutCapacity(const Fabric& fabric, const std::vector<bool>& side);

// Bounds of the bisection of any fabric. Upper: the least cut among the nodes halved in order and a
// partition by METIS, each cut exactly by max-flow. Lower: what evenly split minimal paths carry
// of every traffic pattern that pairs NICs of one half with those of the other (hose model), or of
// traffic from all to all.
[[nodiscard]] Bisection BoundBisection(const Fabric& fabric);

// The closed form where the builder has one, and where its bounds do not meet, the better ones of
// both.
[[nodiscard]] Bisection FindBisection(const BuiltFabric& built);

// All of the above.
[[nodiscard]] FabricAnalysis Analyse(const BuiltFabric& built);

// One hop of a path.
struct PathHop {
  std::string from;
  std::string to;
  LinkKind kind = LinkKind::kNetwork;
  Rate rate;
  Time latency;     // of the link
  Time forwarding;  // of the device at its end, unless that is the destination
  // Links that the policy balances this hop over; 1: the hop is this link alone.
  std::uint32_t parallel = 1;
};

struct PathReport {
  std::vector<PathHop> hops;
  Time latency;
  Rate limit;  // what a lone flow gets
};

// The path between two devices as people name them (`gpu:0/3`, `host-7`). TL1411: no such device,
// or one that is no endpoint or NIC; TL1410: no path.
[[nodiscard]] Result<PathReport> TracePath(const Router& router, const std::string& from,
                                           const std::string& to);

}  // namespace trunkline
