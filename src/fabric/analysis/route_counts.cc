#include "trunkline/fabric/route_counts.h"

#include <algorithm>

#include "fabric/router_tables.h"

namespace trunkline {
namespace {

// Entries of all tables: some seconds.
constexpr std::uint64_t kMostEntries = 50'000'000;

}  // namespace

std::optional<std::vector<PortRoutes>> CountRoutes(const Fabric& fabric, RoutingPolicy policy) {
  const RoutingPolicyTraits& traits = TraitsOf(policy);
  if (traits.ports != PortRule::kTable && traits.ports != PortRule::kDigit) return std::nullopt;
  const NetworkPaths paths = NetworkOf(fabric, traits.paths);
  std::vector<DeviceId> switches;
  std::vector<DeviceId> ends;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto device = DeviceId(i);
    if (fabric.device(device).kind == DeviceKind::kSwitch) {
      switches.push_back(device);
    } else if (paths.attached(device)) {
      ends.push_back(device);
    }
  }
  if (std::uint64_t{switches.size()} * ends.size() > kMostEntries) return std::nullopt;

  std::optional<ForwardingTables> tables;
  std::optional<ModK> mod_k;
  if (traits.ports == PortRule::kTable) {
    tables.emplace(fabric, paths);
  } else {
    mod_k.emplace(fabric);
  }
  std::vector<std::uint64_t> destinations(fabric.link_count());
  std::vector<LinkId> scratch;
  std::vector<PortRoutes> ports;
  for (const DeviceId at : switches) {
    for (const DeviceId end : ends) {
      if (!paths.Forwards(at, end)) continue;
      const auto links = paths.Next(at, end, scratch).links;
      const std::uint32_t entry =
          tables ? tables->Entry(at, end) : mod_k->Entry(at, paths.label(end), links);
      ++destinations[Index(links[entry])];
    }
    for (const LinkId link : fabric.out(at)) {
      if (fabric.device(fabric.link(link).to).kind != DeviceKind::kSwitch) continue;
      ports.push_back({link, destinations[Index(link)]});
    }
  }
  std::ranges::sort(ports, [](const PortRoutes& a, const PortRoutes& b) {
    return a.destinations != b.destinations ? a.destinations > b.destinations : a.link < b.link;
  });
  return ports;
}

}  // namespace trunkline
