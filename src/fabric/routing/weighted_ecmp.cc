#include "fabric/routing/policy.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// A hash that falls on each port in proportion to its weight.
std::uint32_t WeightedPort(const PortView& view) {
  double total = 0;
  for (const double weight : view.weights) total += weight;
  double left = ToUnit(HashCombine(view.flow, view.hop)) * total;
  for (std::uint32_t i = 0; i + 1 < view.ports; ++i) {
    left -= view.weights[i];
    if (left < 0) return i;
  }
  return view.ports - 1;
}

}  // namespace

// Weighted-cost multi-path (Zhou and others, WCMP: Weighted Cost Multipathing for Improved Fairness
// in Data Centers, EuroSys 2014): a port's weight is what can be carried by it towards the
// destination's switch, so that after failures flows follow the capacity that is left.
const RoutingPolicyTraits kWeightedEcmpPolicy = {
    .policy = RoutingPolicy::kWeightedEcmp,
    .name = "weighted-ecmp",
    .summary = "as ecmp, with ports weighted by the capacity behind them",
    .ports = PortRule::kWeighted,
    .choose = WeightedPort,
    .keys = {"seed_per_switch"},
};

}  // namespace trunkline
