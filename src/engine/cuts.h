#pragma once

#include <cstdint>
#include <vector>

#include "engine/fabric_levels.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

// The narrow places of a fabric: nested sets of devices and what the cables leaving each can carry.
// Bounds and the analytic engine both reason with them.
namespace trunkline {

// Links between GPUs that routes inside a node prefer to PCIe (route.h).
[[nodiscard]] constexpr bool IsScaleUp(LinkKind kind) {
  return kind == LinkKind::kNvlink || kind == LinkKind::kXgmi;
}

// The members of a group by the part of the fabric in which they sit. What leaves or enters a part
// takes capacity of its cut, by whatever route.
struct Partition {
  std::vector<std::uint32_t> part_of;  // by group rank
  std::vector<std::uint32_t> size;     // by part: how many members
  std::vector<double> egress;          // by part: payload bytes/s that can leave it
  std::vector<double> ingress;         // by part: payload bytes/s that can enter it
  Time crossing;                       // fabric latency that no transfer between parts undercuts
  bool between_nodes = false;          // parts are whole nodes or more

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(size.size()); }
};

// How many ranks sit behind every cut: groups of congruent ranks that communicate side by side (the
// data-parallel groups of all tensor-parallel ranks, say) share what the cut carries.
struct CutLoad {
  std::vector<std::vector<std::uint32_t>> ranks_of_block;  // by level, by block
  std::vector<std::vector<std::uint32_t>> ranks_of_rail;   // the same of FabricLevels::rails
  std::vector<std::uint32_t> ranks_of_nic;                 // by FabricCuts' number of the NIC
  // Of one name for all cuts that have ranks behind them if these are equally many, and the cuts of
  // a level equally wide; 0 where they are not.
  std::uint64_t evenness = 0;
};

// What passes between the blocks of a fabric. Safe for concurrent readers. The router outlives it.
class FabricCuts {
 public:
  // `blocks`: of the router's fabric and options.
  FabricCuts(const Router& router, FabricLevels blocks);
  explicit FabricCuts(const Router& router)
      : FabricCuts(router, FabricLevels(router.fabric(), router.options())) {}

  [[nodiscard]] bool alike() const { return blocks_.alike; }
  // Whether leaves of rails carry less than their NICs, and no cut says so (FabricLevels::rails).
  [[nodiscard]] bool leaves_out_rails() const { return blocks_.leaves_out_rails; }
  // FabricLevels::joined.
  [[nodiscard]] bool joined() const { return blocks_.joined; }

  [[nodiscard]] CutLoad LoadOf(const std::vector<DeviceId>& endpoints) const;

  // Partitions of a group, finest first: its endpoints, nodes, and blocks, as long as there is more
  // than one part. With a load, which includes the members, a cut's capacity is divided evenly over
  // the ranks behind it; without, the group has the fabric to itself. O(members x levels). Fails
  // with TL1410 where a member reaches no NIC.
  [[nodiscard]] Result<std::vector<Partition>> PartitionsOf(const std::vector<DeviceId>& members,
                                                            const CutLoad* load = nullptr) const;

  // The same partitions by the blocks of FabricLevels::rails that the members' NICs are in; parts
  // of one node reach each other without their cuts. REQUIRES: every member reaches a NIC.
  [[nodiscard]] std::vector<Partition> RailsOf(const std::vector<DeviceId>& members,
                                               const CutLoad* load) const;

  // Equal for groups that fare alike under the load, where pairs that sit alike do: whose members
  // have the same places in their nodes and share nodes and blocks in the same way, which carry as
  // much for as many ranks. Others differ but for one case in 2^64. O(members x levels).
  [[nodiscard]] std::uint64_t PatternOf(const std::vector<DeviceId>& members,
                                        const CutLoad& load) const;
  // How many levels part the two: 0 inside a node.
  [[nodiscard]] std::size_t LevelsBetween(DeviceId a, DeviceId b) const;

  // Payload bytes/s of one of the ranks that send side by side from where `from` sits to where `to`
  // sits, as far as cuts limit it; infinite inside a node.
  [[nodiscard]] double FairRate(DeviceId from, const CutLoad& senders, DeviceId to,
                                const CutLoad& receivers) const;

 private:
  struct Capacity {
    double out = 0;
    double in = 0;
  };

  [[nodiscard]] Capacity NetworkCapacity(DeviceId nic) const;
  [[nodiscard]] std::uint64_t EvennessOf(const CutLoad& load) const;
  [[nodiscard]] Partition Endpoints(const std::vector<DeviceId>& members) const;
  // Where the members sit among the blocks of a level; `ranks_of_block`, if any, of a load.
  [[nodiscard]] Partition Blocks(const FabricLevels::Level& blocks,
                                 const std::vector<DeviceId>& places,
                                 const std::vector<std::uint32_t>* ranks_of_block) const;
  [[nodiscard]] Result<void> NarrowToUsedNics(const std::vector<DeviceId>& members,
                                              const CutLoad* load, Partition& nodes) const;

  const Router* router_;
  FabricLevels blocks_;
};

}  // namespace trunkline
