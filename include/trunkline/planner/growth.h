#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/cost.h"

// What a fabric costs as it grows past what the ports of its switches hold.
namespace trunkline {

struct GrowthPoint {
  std::uint32_t nodes = 0;
  std::uint64_t gpus = 0;  // or hosts
  std::uint32_t tiers = 0;
  std::uint64_t switches = 0;
  std::uint64_t cables = 0;
  double price = 0;
  double watts = 0;
  bool complete = true;  // the list sells all of its parts

  [[nodiscard]] double per_gpu() const { return price / static_cast<double>(gpus); }
};

struct Growth {
  std::string name;
  std::string prices;
  std::string currency;
  // By nodes, four to each doubling; and where a tier is added, the points on both sides of it.
  std::vector<GrowthPoint> points;
  std::string stopped_by;  // why it does not grow to the number asked for; empty: it does
};

// `spec` with more and more nodes, up to `most_gpus`. Fails with what BuildFabric says where not
// even two nodes can be joined; TL1433 for fewer than two nodes' GPUs.
[[nodiscard]] Result<Growth> GrowFabric(const FabricSpec& spec, const std::string& name,
                                        const PriceList& prices, std::uint64_t most_gpus);

}  // namespace trunkline
