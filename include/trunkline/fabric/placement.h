#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"

namespace trunkline {

class Fabric;

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

}  // namespace trunkline
