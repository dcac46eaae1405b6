#include "fabric/builders/clos_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trunkline {
namespace {

constexpr std::uint32_t kDefaultRadix = 64;
// Ratios such as 16/15 are typed in decimals, 1.0667: an uplink more must not follow from rounding.
constexpr double kRatioTolerance = 1e-3;

std::uint32_t RadixOf(const ClosRequest& request, std::size_t tier) {
  return request.radix[std::min(tier, request.radix.size() - 1)];
}

double OversubscriptionOf(const ClosRequest& request, std::size_t tier) {
  return tier < request.oversubscription.size() ? request.oversubscription[tier] : 1;
}

// Ports that so many cables of a level take; level 0 is that of the ends.
std::uint64_t PortsOf(const ClosRequest& request, std::uint64_t cables, std::size_t level) {
  const std::uint64_t each = level < request.breakout.size() ? request.breakout[level] : 1;
  return (cables + each - 1) / each;
}

// The fewest uplinks that keep `down` cables of `down_rate` within the oversubscription.
std::uint32_t UplinksFor(std::uint32_t down, Rate down_rate, Rate up_rate,
                         double oversubscription) {
  const double needed =
      down * (down_rate.bytes_per_second() / up_rate.bytes_per_second()) / oversubscription;
  return static_cast<std::uint32_t>(std::max(1.0, std::ceil(needed - kRatioTolerance * needed)));
}

// The smallest number of switches that takes `uplinks` of a level from each of `children` evenly.
std::optional<std::uint32_t> SwitchesAbove(const ClosRequest& request, std::size_t level,
                                           std::uint64_t children, std::uint32_t uplinks) {
  for (std::uint32_t count = 1; count <= uplinks; ++count) {
    if (uplinks % count == 0 &&
        PortsOf(request, children * (uplinks / count), level) <= RadixOf(request, level)) {
      return count;
    }
  }
  return std::nullopt;
}

struct SwitchCables {
  std::uint32_t down = 0;
  std::uint32_t up = 0;
};

// Cables down and up of a switch with as many down, in multiples, as radix and oversubscription
// allow. `tier` 0 is the leaf's.
std::optional<SwitchCables> Split(const ClosRequest& request, std::size_t tier,
                                  std::uint32_t multiple) {
  const std::uint32_t radix = RadixOf(request, tier);
  const Rate down_rate = tier == 0 ? request.link : request.uplink;
  const std::uint32_t each = tier < request.breakout.size() ? request.breakout[tier] : 1;
  const std::uint32_t most = radix * each;
  for (std::uint32_t down = most - most % multiple; down > 0; down -= multiple) {
    const std::uint32_t up =
        UplinksFor(down, down_rate, request.uplink, OversubscriptionOf(request, tier));
    if (PortsOf(request, down, tier) + PortsOf(request, up, tier + 1) <= radix) {
      return SwitchCables{down, up};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<XgftLevel>> ShapeThreeTiers(const ClosRequest& request,
                                                      const SwitchCables& leaf,
                                                      std::uint32_t leaves) {
  const auto spine = Split(request, 1, 1);
  if (!spine) return std::nullopt;
  const std::uint32_t pod_leaves = std::min(spine->down, leaves);
  const std::uint32_t pods = (leaves + pod_leaves - 1) / pod_leaves;
  const auto cores = SwitchesAbove(request, 2, pods, spine->up);
  if (!cores) return std::nullopt;
  return std::vector<XgftLevel>{
      {.children = leaf.down, .parents = request.ports, .rate = request.link},
      {.children = pod_leaves, .parents = leaf.up, .rate = request.uplink},
      {.children = pods, .parents = *cores, .cables = spine->up / *cores, .rate = request.uplink}};
}

// What one leaf holds; nothing when the radix is too small for any end and uplink.
std::optional<SwitchCables> ShapeLeaf(const ClosRequest& request) {
  const std::uint32_t radix = RadixOf(request, 0);
  if (request.tiers == 1) {  // nothing leads up
    const std::uint32_t each = request.breakout.empty() ? 1 : request.breakout.front();
    const std::uint32_t down = request.leaf_ends == 0 ? radix * each : request.leaf_ends;
    if (PortsOf(request, down, 0) > radix) return std::nullopt;
    return SwitchCables{down, 0};
  }
  if (request.leaf_ends == 0) return Split(request, 0, request.end_multiple);
  const std::uint32_t up =
      UplinksFor(request.leaf_ends, request.link, request.uplink, OversubscriptionOf(request, 0));
  if (PortsOf(request, request.leaf_ends, 0) + PortsOf(request, up, 1) > radix) {
    return std::nullopt;
  }
  return SwitchCables{request.leaf_ends, up};
}

std::optional<std::vector<XgftLevel>> ShapeLevels(const ClosRequest& request,
                                                  const SwitchCables& leaf, std::uint32_t leaves) {
  if (leaves == 1 && request.tiers <= 1) {
    return std::vector<XgftLevel>{
        {.children = leaf.down, .parents = request.ports, .rate = request.link}};
  }
  if (request.tiers == 1) return std::nullopt;
  const auto spines = SwitchesAbove(request, 1, leaves, leaf.up);
  if (spines && request.tiers != 3) {
    return std::vector<XgftLevel>{
        {.children = leaf.down, .parents = request.ports, .rate = request.link},
        {.children = leaves,
         .parents = *spines,
         .cables = leaf.up / *spines,
         .rate = request.uplink}};
  }
  if (request.tiers == 2) return std::nullopt;
  return ShapeThreeTiers(request, leaf, leaves);
}

}  // namespace

std::optional<ClosShape> ShapeClos(const ClosRequest& request,
                                   const std::function<std::uint32_t(std::uint32_t)>& leaves_for) {
  const bool names_spines = std::max({request.radix.size(), request.oversubscription.size(),
                                      request.breakout.size()}) > 1;
  if (request.tiers == 0 && !names_spines) {  // no port of a lone leaf need lead up
    ClosRequest lone = request;
    lone.tiers = 1;
    if (auto shape = ShapeClos(lone, leaves_for)) return shape;
  }
  const auto leaf = ShapeLeaf(request);
  if (!leaf) return std::nullopt;
  const std::uint32_t leaves = leaves_for(leaf->down);
  auto levels = ShapeLevels(request, *leaf, leaves);
  if (!levels) return std::nullopt;
  return ClosShape{leaf->down, leaf->up, leaves, *std::move(levels)};
}

ClosRequest ReadClosRequest(const FabricParameters& parameters) {
  ClosRequest request;
  request.radix = parameters.Counts("radix");
  if (request.radix.empty()) request.radix = {kDefaultRadix};
  request.oversubscription = parameters.Ratios("oversubscription");
  request.link = parameters.link();
  request.uplink = parameters.uplink();
  request.breakout = parameters.Counts("breakout");
  request.ports = parameters.Count("ports", 1);
  request.tiers = parameters.Count("tiers", 0);
  return request;
}

Result<void> CheckTiersNamed(const FabricParameters& parameters, const ClosRequest& request,
                             std::size_t tiers) {
  const auto check = [&](std::string_view key, std::size_t named,
                         std::size_t most) -> Result<void> {
    if (named <= most) return {};
    return parameters.Fail(
        key, "TL1405",
        fmt::format("{} values of {} for a network of {} {}", named, key, tiers,
                    tiers == 1 ? "tier" : "tiers"),
        fmt::format("write at most {}, or ask for more tiers with `tiers`", most));
  };
  auto radix = check("radix", request.radix.size(), tiers);
  // Nothing leads up from the highest tier; a lone leaf may be told what uplinks it would have.
  const std::size_t below = std::max<std::size_t>(tiers - 1, 1);
  auto ratios = check("oversubscription", request.oversubscription.size(), below);
  auto breakout = check("breakout", request.breakout.size(), tiers);
  return !radix ? radix : !ratios ? ratios : breakout;
}

std::unexpected<Diagnostics> RadixTooSmall(const FabricParameters& parameters,
                                           const ClosRequest& request) {
  return parameters.Fail("radix", "TL1403",
                         fmt::format("switches of radix {} are too small for this fabric",
                                     fmt::join(request.radix, ", ")),
                         "raise radix, oversubscription or tiers, or use fewer nodes");
}

}  // namespace trunkline
