#include "trunkline/fabric/placement.h"

#include <fmt/format.h>

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

}  // namespace trunkline
