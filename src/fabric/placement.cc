#include "trunkline/fabric/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/plural.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Names the draws of a placement among all users of one seed.
constexpr std::uint64_t kPlacementStream = 0x706c6163656d656e;  // "placemen"

Result<std::vector<DeviceId>> Endpoints(std::span<const DeviceId> free, std::size_t ranks) {
  if (ranks <= free.size()) return std::vector(free.begin(), free.end());
  return Error("TL1420",
               fmt::format("{} not fit on {}", Plural(ranks, "rank does", "ranks do"),
                           Plural(free.size(), "endpoint")),
               "use more nodes or fewer ranks; a GPU or host takes one rank");
}

// Nodes of a fabric without units are one each.
std::uint32_t UnitOf(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                     DeviceId endpoint) {
  const std::uint32_t node = fabric.device(endpoint).node;
  return node < unit_of_node.size() ? unit_of_node[node] : node;
}

}  // namespace

namespace {

Result<Placement> Packed(std::span<const DeviceId> free, std::size_t ranks) {
  auto endpoints = Endpoints(free, ranks);
  if (!endpoints) return std::unexpected(std::move(endpoints.error()));
  endpoints->resize(ranks);
  return Placement(*std::move(endpoints));
}

Result<Placement> Random(std::span<const DeviceId> free, std::size_t ranks, std::uint64_t seed) {
  auto endpoints = Endpoints(free, ranks);
  if (!endpoints) return std::unexpected(std::move(endpoints.error()));
  // Fisher and Yates, from the front: the first `ranks` are settled first.
  const std::size_t total = endpoints->size();
  for (std::size_t i = 0; i < ranks; ++i) {
    std::swap((*endpoints)[i], (*endpoints)[i + Below(Draw(seed, kPlacementStream, i), total - i)]);
  }
  endpoints->resize(ranks);
  return Placement(*std::move(endpoints));
}

}  // namespace

Result<Placement> PackedPlacement(const Fabric& fabric, std::size_t ranks) {
  return Packed(fabric.endpoints(), ranks);
}

Result<Placement> RandomPlacement(const Fabric& fabric, std::size_t ranks, std::uint64_t seed) {
  return Random(fabric.endpoints(), ranks, seed);
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

// Blocks of `block` endpoints of each group in turn, until all ranks are placed.
Placement Deal(std::vector<std::vector<DeviceId>> groups, std::size_t block, std::size_t ranks) {
  std::vector<DeviceId> placed;
  for (std::size_t begin = 0; placed.size() < ranks; begin += block) {
    std::erase_if(groups, [begin](const auto& group) { return group.size() <= begin; });
    for (const std::vector<DeviceId>& group : groups) {
      const std::size_t most = std::min({block, ranks - placed.size(), group.size() - begin});
      const auto first = group.begin() + static_cast<std::ptrdiff_t>(begin);
      placed.insert(placed.end(), first, first + static_cast<std::ptrdiff_t>(most));
    }
  }
  return Placement(std::move(placed));
}

Result<Placement> ByRail(const Fabric& fabric, std::span<const DeviceId> free, std::size_t ranks) {
  const auto endpoints = Endpoints(free, ranks);
  if (!endpoints) return std::unexpected(endpoints.error());
  if (fabric.endpoints_per_node() == 0) {
    return Error("TL1421", "placement by rail where nodes have different numbers of GPUs",
                 "use packed or by-block, or list the GPUs in a file");
  }
  // The fewest nodes in order that hold all ranks.
  std::vector<std::vector<DeviceId>> nodes;
  std::size_t held = 0;
  std::uint32_t last = Device::kNoNode;
  for (const DeviceId id : *endpoints) {
    const std::uint32_t node = fabric.device(id).node;
    if (node != last || nodes.empty()) {
      if (held >= ranks) break;
      nodes.emplace_back();
    }
    last = node;
    nodes.back().push_back(id);
    ++held;
  }
  return Deal(std::move(nodes), 1, ranks);
}

Result<Placement> ByBlock(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                          std::span<const DeviceId> free, std::size_t block, std::size_t ranks) {
  const auto endpoints = Endpoints(free, ranks);
  if (!endpoints) return std::unexpected(endpoints.error());
  std::vector<std::vector<DeviceId>> units;
  for (DeviceId id : *endpoints) {
    const std::uint32_t unit = UnitOf(fabric, unit_of_node, id);
    if (unit >= units.size()) units.resize(unit + 1);
    units[unit].push_back(id);
  }
  return Deal(std::move(units), block, ranks);
}

}  // namespace

Result<Placement> PlaceRanksOn(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                               std::span<const DeviceId> free, const PlacementSpec& spec,
                               std::size_t ranks, std::uint64_t seed) {
  switch (spec.kind) {
    case PlacementKind::kPacked:
      break;
    case PlacementKind::kByRail:
      return ByRail(fabric, free, ranks);
    case PlacementKind::kByBlock:
      return ByBlock(fabric, unit_of_node, free, std::max(1U, spec.block), ranks);
    case PlacementKind::kRandom:
      return Random(free, ranks, spec.seed.value_or(seed));
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
  return Packed(free, ranks);
}

Result<Placement> PlaceRanks(const Fabric& fabric, std::span<const std::uint32_t> unit_of_node,
                             const PlacementSpec& spec, std::size_t ranks, std::uint64_t seed) {
  return PlaceRanksOn(fabric, unit_of_node, fabric.endpoints(), spec, ranks, seed);
}

}  // namespace trunkline
