#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/routing/policy.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

Result<DeviceId> FindEnd(const Fabric& fabric, const std::string& name) {
  const auto found = fabric.Find(name);
  if (found.empty()) {
    const std::span<const DeviceId> ends = fabric.endpoints();
    return Error("TL1411", fmt::format("no device '{}' in this fabric", name),
                 ends.empty() ? "it has no ends"
                              : fmt::format("its ends run from {} to {}", fabric.name(ends.front()),
                                            fabric.name(ends.back())));
  }
  const DeviceKind kind = fabric.device(found[0]).kind;
  if (kind != DeviceKind::kGpu && kind != DeviceKind::kHost && kind != DeviceKind::kNic) {
    return Error(
        "TL1411",
        fmt::format("'{}' is a {}, and paths join GPUs, NICs or hosts", name, ToString(kind)),
        "name an end, such as gpu:0/3, nic:0/3 or host-0");
  }
  return found[0];
}

// The links of the trunk of `link` that a flow on this route has to choose from.
std::uint32_t LinksBeside(const Router& router, const Route& route, LinkId link) {
  const Fabric& fabric = router.fabric();
  const std::uint32_t trunk = fabric.link(link).trunk;
  std::size_t in_trunk = fabric.trunk_links(trunk).size();
  std::size_t apart = 0;
  for (const Hop& hop : route.hops) {
    if (Index(hop.resource) < fabric.link_count()) {
      apart += fabric.link(LinkId(Index(hop.resource))).trunk == trunk ? 1 : 0;
      continue;
    }
    const auto links = router.trunk_links(hop.resource);
    if (std::ranges::find(links, link) != links.end()) in_trunk = std::min(in_trunk, links.size());
  }
  return static_cast<std::uint32_t>(apart > 0 ? apart : in_trunk);
}

}  // namespace

Result<PathReport> TracePath(const Router& router, const std::string& from, const std::string& to) {
  const Fabric& fabric = router.fabric();
  const auto src = FindEnd(fabric, from);
  if (!src) return std::unexpected(src.error());
  const auto dst = FindEnd(fabric, to);
  if (!dst) return std::unexpected(dst.error());
  if (*src == *dst) {
    return Error("TL1411", fmt::format("'{}' is both ends of the path", from),
                 "name two different devices");
  }
  const auto route = router.FindRoute(*src, *dst, 0);
  if (!route) return std::unexpected(route.error());
  const auto path = router.FindPath(*src, *dst, 0);
  if (!path) return std::unexpected(path.error());

  const bool balances = TraitsOf(router.options().policy).balances;
  PathReport report{.hops = {}, .latency = route->latency, .limit = route->limit};
  for (LinkId id : *path) {
    const Link& link = fabric.link(id);
    PathHop hop{.from = fabric.name(link.from),
                .to = fabric.name(link.to),
                .kind = link.kind,
                .rate = link.rate,
                .latency = link.latency,
                .forwarding = link.to == *dst ? Time() : fabric.device(link.to).latency};
    if (balances && link.trunk != Link::kNoTrunk) hop.parallel = LinksBeside(router, *route, id);
    report.hops.push_back(std::move(hop));
  }
  return report;
}

}  // namespace trunkline
