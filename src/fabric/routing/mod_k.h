#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Destination modulo k (Zahavi, D-Mod-K Routing, Technion CCIT report 776, 2010, equation 1): a
// device below w parents, with p cables to each, sends the destination j up by port
// (j / W) mod (w p), W being the product of the w of the tiers below; ports go round all parents
// before the second cable to any. What leads down to j by several cables takes the (j / W)-th of
// these, which is the one that leads up for j on the other side. All traffic to one destination
// meets at the same top switch, and destinations that follow each other by different cables.
class ModK {
 public:
  explicit ModK(const Fabric& fabric);

  // Which of `ports`, links out of `at`, the destination of that label takes: the same whoever
  // sends. REQUIRES: ports is not empty.
  [[nodiscard]] std::uint32_t Entry(DeviceId at, std::uint32_t label,
                                    std::span<const LinkId> ports) const;

 private:
  void RankPorts(DeviceId at);
  void FindParents();

  const Fabric& fabric_;
  // By link: its turn among those of its device, that go round the neighbours.
  std::vector<std::uint32_t> rank_;
  std::array<std::uint64_t, 256> parents_below_{};  // by tier: W
};

}  // namespace trunkline
