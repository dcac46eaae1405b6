#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"

namespace trunkline {

class Fabric;
class Router;

// Which endpoint each rank runs on. Ranks are dense, one per endpoint.
class Placement {
 public:
  Placement() = default;
  // REQUIRES: no device twice.
  explicit Placement(std::vector<DeviceId> endpoint_of_rank)
      : endpoint_of_rank_(std::move(endpoint_of_rank)) {}

  [[nodiscard]] std::size_t rank_count() const { return endpoint_of_rank_.size(); }
  [[nodiscard]] DeviceId endpoint(RankId rank) const { return endpoint_of_rank_[Index(rank)]; }

 private:
  std::vector<DeviceId> endpoint_of_rank_;
};

// Rank i on the i-th endpoint (nodes in order, GPUs in order). Fails with TL1420 when the fabric
// has fewer endpoints than ranks.
[[nodiscard]] Result<Placement> PackedPlacement(const Fabric& fabric, std::size_t ranks);
// A seeded random permutation of the endpoints.
[[nodiscard]] Result<Placement> RandomPlacement(const Fabric& fabric, std::size_t ranks,
                                                std::uint64_t seed);

// How ranks are laid on endpoints.
//   kPacked   nodes in order, GPUs in order
//   kByRail   GPU 0 of the fewest nodes that hold all ranks, then GPU 1 of them, …
//   kByBlock  blocks of `block` ranks, dealt out to the scale units in turn
//   kRandom   a seeded permutation
//   kListed   as `listed` says
enum class PlacementKind : std::uint8_t { kPacked, kByRail, kByBlock, kRandom, kListed };
[[nodiscard]] const char* ToString(PlacementKind kind);

struct PlacementSpec {
  PlacementKind kind = PlacementKind::kPacked;
  std::uint32_t block = 1;
  std::optional<std::uint64_t> seed;  // none: that of the run
  std::vector<DeviceId> listed;       // by rank
};

// `unit_of_node`: the rack, leaf or scale unit of each node. TL1420; TL1421: by rail where nodes
// have different numbers of GPUs.
[[nodiscard]] Result<Placement> PlaceRanks(const Fabric& fabric,
                                           std::span<const std::uint32_t> unit_of_node,
                                           const PlacementSpec& spec, std::size_t ranks,
                                           std::uint64_t seed);

// The same on `free`, which are some of the fabric's endpoints in their order: what other jobs
// leave over. A listed placement takes what it lists.
[[nodiscard]] Result<Placement> PlaceRanksOn(const Fabric& fabric,
                                             std::span<const std::uint32_t> unit_of_node,
                                             std::span<const DeviceId> free,
                                             const PlacementSpec& spec, std::size_t ranks,
                                             std::uint64_t seed);

// The names that a list in Slurm's form stands for, in its order: `node[001-003,7],login` is
// node001 node002 node003 node7 login. TL1422, with the column.
[[nodiscard]] Result<std::vector<std::string>> ParseNodeList(std::string_view text);
// Every endpoint of the nodes of these names. A node is known by the name of a device in it, or by
// the number that its name ends in (as in gpu:NODE/0). TL1423: unknown, or twice.
[[nodiscard]] Result<std::vector<DeviceId>> EndpointsOfNodes(const Fabric& fabric,
                                                             std::span<const std::string> names);
// A file with an endpoint a line, `gpu:3/0`, rank by rank, or `rank=gpu:3/0` in any order; # begins
// a comment. TL1424.
[[nodiscard]] Result<std::vector<DeviceId>> ParsePlacementFile(std::string_view text,
                                                               const std::string& file,
                                                               const Fabric& fabric);

// How a job lies on the fabric.
struct Fragmentation {
  std::uint32_t nodes = 0;         // with a rank
  std::uint32_t units = 0;         // scale units with a rank
  std::uint32_t units_needed = 0;  // the fewest that hold as many ranks
  std::uint32_t units_total = 0;
  // Pairs of ranks in different nodes whose path crosses more than one switch, of all pairs: of
  // rank i and i + 1 around, and of any two.
  double ring_over_spines = 0;
  double pairs_over_spines = 0;
};
[[nodiscard]] Fragmentation MeasureFragmentation(const Router& router,
                                                 std::span<const std::uint32_t> unit_of_node,
                                                 const Placement& placement);

}  // namespace trunkline
