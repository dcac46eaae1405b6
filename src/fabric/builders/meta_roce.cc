#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/plural.h"
#include "fabric/builders/xgft.h"

namespace trunkline {
namespace {

// The 24k-GPU RoCE cluster of The Llama 3 Herd of Models (2024), section 3.3.1: two servers of
// eight GPUs a rack under one ToR, 192 racks a pod of full bisection, eight pods, 1:7 above them.
constexpr std::uint32_t kRackNodes = 2;
constexpr std::uint32_t kRacks = 192;
constexpr std::uint32_t kPods = 8;
constexpr double kTaper = 7;

Result<NetworkPlan> PlanMetaRoce(const FabricParameters& parameters) {
  const std::uint32_t nics = parameters.nics();
  const std::uint32_t rack_nodes = parameters.Count("rack", kRackNodes);
  const std::uint32_t racks = parameters.Count("racks", kRacks);
  const auto tapers = parameters.Ratios("taper");
  if (tapers.size() > 1) {
    return parameters.Fail("taper", "TL1405", "pods have one taper", "write taper=7");
  }
  const double taper = tapers.empty() ? kTaper : tapers.front();
  const double pod = static_cast<double>(rack_nodes) * racks;
  const double wanted = parameters.nodes() > 0 ? parameters.nodes() : pod * kPods;
  if (wanted * nics > kMaxEnds) return TooManyEnds(wanted * nics);
  const auto nodes = static_cast<std::uint32_t>(wanted);
  const std::uint32_t used = (nodes + rack_nodes - 1) / rack_nodes;
  const std::uint32_t pods = (used + racks - 1) / racks;
  // A ToR has as many uplinks as NICs, one to each cluster switch of the pod; how many of these
  // there are is not published. A bundle stands for their uplinks, so that the taper is exact.
  const std::uint32_t spines = rack_nodes * nics;
  const double bundle = static_cast<double>(parameters.link().bits_per_second()) * racks / taper;
  if (bundle < 1 || bundle > kMaxTotalRate) {
    return parameters.Fail("taper", "TL1404", "an uplink's rate is out of range",
                           fmt::format("write taper={}", kTaper));
  }

  XgftPlan plan;
  plan.leaves = used;
  plan.levels = {{.children = spines, .rate = parameters.link()},
                 {.children = racks, .parents = spines, .rate = parameters.link()}};
  if (pods > 1) {
    plan.levels.push_back(
        {.children = pods, .rate = Rate::BitsPerSecond(static_cast<std::int64_t>(bundle))});
  }
  plan.seats = ConsecutiveSeats(nodes, nics, 1, spines);
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  return PlanXgft(
      std::move(plan), nodes, nics,
      fmt::format("{} of {} in {} of full bisection, 1:{} above; each "
                  "uplink of a pod's switches stands for a bundle",
                  Plural(used, "rack"), Plural(rack_nodes, "node"), Plural(pods, "pod"), taper));
}

}  // namespace

const Builder& MetaRoceBuilder() {
  static const Builder builder = {
      {"meta-roce",
       "Meta's RoCE clusters: racks under one ToR, pods of full bisection, tapered above (Llama 3)",
       {CountKey("rack", "2", "nodes of a rack", 64),
        CountKey("racks", "192", "racks of a pod"),
        {"taper", FabricKey::Type::kRatios, 1e-3, 1e3, "7", "downward over upward rate of a pod"},
        LinkKey()}},
      PlanMetaRoce};
  return builder;
}

}  // namespace trunkline
