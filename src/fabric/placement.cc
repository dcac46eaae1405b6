#include "trunkline/fabric/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Names the draws of a placement among all users of one seed.
constexpr std::uint64_t kPlacementStream = 0x706c6163656d656e;  // "placemen"

Result<std::vector<DeviceId>> Endpoints(const Fabric& fabric, std::size_t ranks) {
  const auto endpoints = fabric.endpoints();
  if (ranks <= endpoints.size()) return std::vector(endpoints.begin(), endpoints.end());
  return Error("TL1420",
               fmt::format("{} ranks do not fit on {} endpoints", ranks, endpoints.size()),
               "use more nodes or fewer ranks; a GPU or host takes one rank");
}

// Nodes of a fabric without units are one each.
std::uint32_t UnitOf(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                     DeviceId endpoint) {
  const std::uint32_t node = fabric.device(endpoint).node;
  return node < unit_of_node.size() ? unit_of_node[node] : node;
}

}  // namespace

Result<Placement> PackedPlacement(const Fabric& fabric, std::size_t ranks) {
  auto endpoints = Endpoints(fabric, ranks);
  if (!endpoints) return std::unexpected(std::move(endpoints.error()));
  endpoints->resize(ranks);
  return Placement(*std::move(endpoints));
}

Result<Placement> RandomPlacement(const Fabric& fabric, std::size_t ranks, std::uint64_t seed) {
  auto endpoints = Endpoints(fabric, ranks);
  if (!endpoints) return std::unexpected(std::move(endpoints.error()));
  // Fisher and Yates, from the front: the first `ranks` are settled first.
  const std::size_t total = endpoints->size();
  for (std::size_t i = 0; i < ranks; ++i) {
    std::swap((*endpoints)[i], (*endpoints)[i + Below(Draw(seed, kPlacementStream, i), total - i)]);
  }
  endpoints->resize(ranks);
  return Placement(*std::move(endpoints));
}

const char* ToString(PlacementKind kind) {
  switch (kind) {
    case PlacementKind::kPacked:
      return "packed";
    case PlacementKind::kByRail:
      return "by-rail";
    case PlacementKind::kByBlock:
      return "by-block";
    case PlacementKind::kRandom:
      return "random";
    case PlacementKind::kListed:
      return "listed";
  }
  return "?";
}

namespace {

Result<Placement> RailPlacement(const Fabric& fabric, std::size_t ranks) {
  auto endpoints = Endpoints(fabric, ranks);
  if (!endpoints) return std::unexpected(std::move(endpoints.error()));
  const std::size_t rails = fabric.endpoints_per_node();
  if (rails == 0) {
    return Error("TL1421", "placement by rail where nodes have different numbers of GPUs",
                 "use packed or by-block, or list the GPUs in a file");
  }
  const std::size_t nodes = (ranks + rails - 1) / rails;
  std::vector<DeviceId> placed;
  for (std::size_t i = 0; placed.size() < ranks; ++i) {
    placed.push_back((*endpoints)[i % nodes * rails + i / nodes]);
  }
  return Placement(std::move(placed));
}

Result<Placement> BlockPlacement(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                                 std::size_t block, std::size_t ranks) {
  auto endpoints = Endpoints(fabric, ranks);
  if (!endpoints) return std::unexpected(std::move(endpoints.error()));
  std::vector<std::vector<DeviceId>> units;
  for (DeviceId id : *endpoints) {
    const std::uint32_t unit = UnitOf(fabric, unit_of_node, id);
    if (unit >= units.size()) units.resize(unit + 1);
    units[unit].push_back(id);
  }
  std::vector<DeviceId> placed;
  std::vector<std::size_t> next(units.size(), 0);
  for (std::size_t turn = 0; placed.size() < ranks; ++turn) {
    const std::vector<DeviceId>& unit = units[turn % units.size()];
    std::size_t& at = next[turn % units.size()];
    for (std::size_t i = 0; i < block && at < unit.size() && placed.size() < ranks; ++i) {
      placed.push_back(unit[at++]);
    }
  }
  return Placement(std::move(placed));
}

}  // namespace

Result<Placement> PlaceRanks(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                             const PlacementSpec& spec, std::size_t ranks, std::uint64_t seed) {
  switch (spec.kind) {
    case PlacementKind::kPacked:
      break;
    case PlacementKind::kByRail:
      return RailPlacement(fabric, ranks);
    case PlacementKind::kByBlock:
      return BlockPlacement(fabric, unit_of_node, std::max(1U, spec.block), ranks);
    case PlacementKind::kRandom:
      return RandomPlacement(fabric, ranks, spec.seed.value_or(seed));
    case PlacementKind::kListed:
      if (ranks > spec.listed.size()) {
        return Error(
            "TL1420",
            fmt::format("{} ranks, of which the placement lists {}", ranks, spec.listed.size()),
            "list more, or use fewer ranks");
      }
      return Placement(
          {spec.listed.begin(), spec.listed.begin() + static_cast<std::ptrdiff_t>(ranks)});
  }
  return PackedPlacement(fabric, ranks);
}

}  // namespace trunkline
