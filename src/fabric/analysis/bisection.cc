#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/analysis/halves.h"
#include "fabric/analysis/hose_bound.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

// The most halvings of the units that are tried one by one.
constexpr std::uint32_t kMaxUnits = 12;
constexpr double kMaxUnitWork = 2e7;  // halvings x links

std::optional<Rate> WorstHalfByUnit(const Fabric& fabric, const std::vector<std::uint32_t>& unit) {
  const std::uint32_t units = unit.empty() ? 0 : std::ranges::max(unit) + 1;
  if (units < 2 || units > kMaxUnits || units % 2 != 0) return std::nullopt;
  std::vector<std::uint32_t> halves;
  for (std::uint32_t mask = 0; mask < (1U << (units - 1)); ++mask) {  // the last unit: other side
    if (static_cast<std::uint32_t>(std::popcount(mask)) == units / 2) halves.push_back(mask);
  }
  if (static_cast<double>(halves.size()) * static_cast<double>(fabric.link_count()) >
      kMaxUnitWork) {
    return std::nullopt;
  }
  std::optional<Rate> worst;
  for (std::uint32_t mask : halves) {
    std::vector<bool> side(fabric.node_count());
    for (std::size_t n = 0; n < side.size(); ++n) side[n] = (mask >> unit[n] & 1U) != 0;
    const Rate cut = CutCapacity(fabric, side);
    if (!worst || cut < *worst) worst = cut;
  }
  return worst;
}

}  // namespace

Bisection BoundBisection(const Fabric& fabric) {
  if (fabric.node_count() < 2) return {.method = "fewer than two nodes: nothing to halve"};
  const Halving thinnest = ThinnestHalving(fabric);
  Bisection bisection{.upper = thinnest.cut, .method = "upper: nodes halved " + thinnest.how};
  if (const auto lower = BoundFromBelow(fabric)) {
    bisection.lower = std::min(lower->rate, bisection.upper);
    bisection.method += fmt::format("; lower: {}", lower->how);
  } else {
    bisection.method += "; no lower bound: too many pairs of leaves to try";
  }
  if (bisection.lower == bisection.upper) bisection.method = "exact: " + bisection.method;
  return bisection;
}

namespace {

// Raises the lower bound to the one found where that is better.
void Tighten(Bisection& known, const Fabric& fabric) {
  if (known.lower == known.upper) return;
  const auto found = BoundFromBelow(fabric);
  if (!found || found->rate <= known.lower) return;
  known.lower = std::min(found->rate, known.upper);
  known.method += fmt::format("; above the lower, {}", found->how);
}

}  // namespace

Bisection FindBisection(const BuiltFabric& built) {
  if (!built.bisection) return BoundBisection(built.fabric);
  Bisection known = *built.bisection;
  if (known.lower == known.upper) return known;
  if (known.upper == Rate()) {  // known from below only
    Bisection found = BoundBisection(built.fabric);
    if (known.lower <= found.lower) return found;
    found.lower = std::min(known.lower, found.upper);
    found.method = "upper: halves in order and by METIS, cut by max-flow; " + known.method;
    return found;
  }
  const Halving thinnest = ThinnestHalving(built.fabric);
  if (known.upper > thinnest.cut) {
    known = {.lower = std::min(known.lower, thinnest.cut),
             .upper = thinnest.cut,
             .method = fmt::format("{}; less, nodes halved {}", known.method, thinnest.how)};
  }
  Tighten(known, built.fabric);
  return known;
}

namespace {

std::uint64_t FewestNicsOfHalf(const Fabric& fabric) {
  std::vector<std::uint32_t> nodes;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (IsNetworkEnd(device.kind)) {
      nodes.push_back(device.node);
    }
  }
  return FewestOfHalf(std::move(nodes), fabric.node_count());
}

}  // namespace

FabricAnalysis Analyse(const BuiltFabric& built) {
  return {.counts = CountParts(built.fabric),
          .hops = CountHops(built.fabric),
          .bisection = FindBisection(built),
          .fewest_nics_of_half = FewestNicsOfHalf(built.fabric),
          .worst_half_by_unit = WorstHalfByUnit(built.fabric, built.unit_of_node)};
}

}  // namespace trunkline
