#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "fabric/builders/xgft.h"

namespace trunkline {
namespace {

Result<NetworkPlan> PlanTree(const FabricParameters& parameters) {
  const auto arity = parameters.Counts("arity");
  if (arity.empty() || arity.size() > kMaxTreeLevels) {
    return parameters.Fail(
        "arity", "TL1405",
        fmt::format("a tree has 1 to {} levels, this one {}", kMaxTreeLevels, arity.size()),
        "write arity=[8,4]: eight nodes a leaf, four leaves a spine");
  }
  auto taper = parameters.Ratios("taper");
  if (taper.size() >= arity.size()) {
    return parameters.Fail(
        "taper", "TL1405",
        fmt::format("{} levels have {} uplinks between them, taper has {} ratios", arity.size(),
                    arity.size() - 1, taper.size()),
        "one ratio for each level but the top");
  }
  taper.resize(arity.size(), 1);
  const double room = std::accumulate(arity.begin(), arity.end(), 1.0, std::multiplies<>());
  if (parameters.nodes() > room) {
    return parameters.Fail("nodes", "TL1405",
                           fmt::format("the tree has room for {:.0f} nodes", room),
                           "ask for fewer nodes or a larger arity");
  }
  const std::uint32_t nics = parameters.nics();
  const double wanted = parameters.nodes() > 0 ? parameters.nodes() : room;
  if (wanted * nics > kMaxEnds) return TooManyEnds(wanted * nics);
  const auto nodes = static_cast<std::uint32_t>(wanted);

  XgftPlan plan;
  plan.leaves = (nodes + arity[0] - 1) / arity[0];
  plan.levels.push_back({.children = arity[0] * nics, .rate = parameters.link()});
  for (std::size_t i = 1; i < arity.size(); ++i) {
    const XgftLevel& below = plan.levels.back();
    const double down = static_cast<double>(below.rate.bits_per_second()) * below.children;
    const double up = down / taper[i - 1];
    if (up < 1 || up > kMaxTotalRate) {
      return parameters.Fail("taper", "TL1404", "an uplink's rate is out of range",
                             "choose another taper or arity");
    }
    plan.levels.push_back(
        {.children = arity[i], .rate = Rate::BitsPerSecond(static_cast<std::int64_t>(up))});
  }
  plan.seats = ConsecutiveSeats(nodes, nics, 1, arity[0] * nics);
  plan.cable_latency = parameters.cable_latency();
  plan.switch_latency = parameters.switch_latency();
  return PlanXgft(std::move(plan), nodes, nics,
                  fmt::format("a tree of arity {} tapered by {}; each uplink stands for a bundle",
                              fmt::join(arity, " x "), fmt::join(taper, ", ")));
}

}  // namespace

const Builder& TreeBuilder() {
  static const Builder builder = {
      {"tree",
       "a tree of switches, one uplink each, whose rate tapers towards the root",
       {{"arity", FabricKey::Type::kCounts, 1, kMaxNodes, "required",
         "nodes of a leaf, then children of a switch of each higher level"},
        {"taper", FabricKey::Type::kRatios, 1e-3, 1e3, "1 at every level",
         "downward over upward rate of the switches of each level but the top"},
        LinkKey()}},
      PlanTree};
  return builder;
}

}  // namespace trunkline
