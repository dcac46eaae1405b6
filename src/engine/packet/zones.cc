#include "engine/packet/zones.h"

#include <algorithm>

#include "engine/packet/packet_network.h"

namespace trunkline {
namespace {

bool AreEndsApart(const Plant& plant, const Fabric& fabric, Time window) {
  std::vector<bool> has_cable(fabric.device_count());
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork || plant.ports[i].at_switch != kNoIndex) continue;
    const std::int64_t shorter = std::min(plant.cables[i].delay, plant.cables[i ^ 1U].delay);
    if (has_cable[Index(link.from)] || shorter < window.ps()) return false;
    has_cable[Index(link.from)] = true;
  }
  return true;
}

}  // namespace

Zones FindZones(const Plant& plant, const Fabric& fabric) {
  const std::vector<std::uint32_t> switches = IndexSwitches(fabric);
  const bool alone = plant.faults != nullptr || plant.news.period != 0 || !plant.lanes.empty() ||
                     plant.transport.sockets || !plant.buses.empty();
  if (alone || plant.switches.size() < 2 || plant.switches.size() > UINT16_MAX) return {};
  const auto zone_of = [&](DeviceId device) {
    if (switches[Index(device)] != kNoIndex) return switches[Index(device)];
    for (const LinkId link : fabric.out(device)) {
      const std::uint32_t at = switches[Index(fabric.link(link).to)];
      if (at != kNoIndex) return at;
    }
    return 0U;
  };
  Zones zones{.count = static_cast<std::uint32_t>(plant.switches.size()),
              .of_link = std::vector<std::uint16_t>(fabric.link_count()),
              .window = Time::Max()};
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    const std::uint32_t to = zone_of(link.to);
    zones.of_link[i] = static_cast<std::uint16_t>(to);
    if (link.kind != LinkKind::kNetwork || zone_of(link.from) == to) continue;
    zones.window = std::min(zones.window, Time::Picoseconds(plant.cables[i].delay));
  }
  zones.ends_apart = AreEndsApart(plant, fabric, zones.window);
  // A calendar has no windows below 1.024 ns, and rounds down by up to an eighth.
  constexpr Time kLeast = Time::Nanoseconds(2);
  return zones.window < kLeast ? Zones() : zones;
}

bool AreWorthwhile(const Zones& zones, const Plant& plant) {
  // Under NSCC with spraying zones cost as much as they save at six events, under DCQCN, which
  // leaves more links idle, at eleven (docs/performance.md): between the two.
  constexpr double kLeast = 8;
  if (zones.count == 1) return false;
  const auto frame =
      static_cast<std::uint32_t>((plant.transport.mtu + plant.transport.packet_overhead).count());
  double events = 0;
  for (const PortDetails& port : plant.details) {
    events += zones.window.seconds() / Time::Picoseconds(port.wire.Duration(frame)).seconds();
  }
  return events / zones.count >= kLeast;
}

}  // namespace trunkline
