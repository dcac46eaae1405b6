#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/fabric/build.h"

// Where a fabric is thin: what its bisection cuts, how many ways lead from leaf to leaf, whose
// failure cuts ends off, and what one failure of each kind costs.
namespace trunkline {

// The links with the least capacity from one set of nodes to the others: together they carry
// `capacity`, one direction.
struct Cut {
  Rate capacity = {};
  std::vector<LinkId> links = {};
};

// From the nodes on `side` to the rest, exactly, by max-flow. Of cuts of equal capacity, one
// between switches. `failed`: links to leave out; empty: none. REQUIRES: side.size() ==
// fabric.node_count().
[[nodiscard]] Cut LeastCut(const Fabric& fabric, const std::vector<bool>& side,
                           const std::vector<bool>& failed = {});

// What a switch takes from below and can pass on.
struct SwitchLoad {
  DeviceId device{};
  Rate down;
  Rate out;  // upwards and sideways
  [[nodiscard]] double oversubscription() const {
    return down.bytes_per_second() / out.bytes_per_second();
  }
};

// Over pairs of NICs that share no switch; paths between their switches.
struct PathDiversity {
  std::uint64_t pairs = 0;           // looked at
  std::uint64_t all_pairs = 0;       // of sets of switches with NICs; more than `pairs`: a sample
  std::uint32_t least_disjoint = 0;  // paths that share no cable
  double mean_disjoint = 0;
  double least_equal = 0;  // shortest paths, parallel cables counted apart
  double mean_equal = 0;
  std::pair<DeviceId, DeviceId> narrowest = {};  // NICs with the fewest disjoint paths
};

// Devices or cables alike in what their failure alone cuts off.
struct SinglePoint {
  std::string what;     // "leaf", "nic to leaf"
  std::string example;  // "leaf-0", "nic:0/3/leaf-3": a target of faults
  std::uint64_t count = 0;
  std::uint64_t nics_lost = 0;   // by each; its own, of a NIC, not counted
  std::uint64_t nodes_lost = 0;  // nodes none of whose NICs reach the others
};

// One failure, of the worst device or cable of its kind.
struct FailureCost {
  std::string what;    // "leaf", "leaf to spine cable"
  std::string target;  // "leaf-0", "leaf-0/spine-1": as faults name it
  std::uint64_t nics_lost = 0;
  std::uint64_t nodes_lost = 0;
  Rate cut;                     // between the halves of WeakPoints::cut, afterwards
  double oversubscription = 0;  // of the worst switch below the top, afterwards
};

struct WeakPoints {
  std::vector<bool> side = {};          // by node: the halves that `cut` divides
  Cut cut = {};                         // the upper bound of the bisection
  std::vector<SwitchLoad> loaded = {};  // switches with something above them, the worst first
  double worst_oversubscription = 0;
  PathDiversity diversity = {};
  std::vector<SinglePoint> single_points = {};  // the most nodes lost first, then NICs
  std::vector<FailureCost> failures = {};
};

[[nodiscard]] WeakPoints FindWeakPoints(const BuiltFabric& built);

}  // namespace trunkline
