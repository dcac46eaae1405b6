#include "engine/packet/ends_ahead.h"

#include "trunkline/fabric/fabric.h"

namespace trunkline {

std::vector<std::uint32_t> FindHosts(const Plant& plant, const Fabric& fabric) {
  const bool coupled = plant.faults != nullptr || plant.news.period != 0 || !plant.lanes.empty() ||
                       plant.can_lose || plant.transport.sockets || !plant.buses.empty() ||
                       plant.switches_model.cut_through;
  if (coupled) return {};
  std::vector<std::uint32_t> hosts(fabric.link_count(), kNoIndex);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (plant.ports[i].nic == kNoIndex) continue;
    const bool delays = plant.cables[i].delay > 0 && plant.cables[i ^ 1U].delay > 0;
    if (plant.cables[i].to_switch == kNoIndex || !delays) return {};
    hosts[i] = static_cast<std::uint32_t>(Index(link.from));
  }
  return hosts;
}

Time LeastNotice(const Plant& plant) {
  const auto frame =
      static_cast<std::uint32_t>((plant.transport.mtu + plant.transport.packet_overhead).count());
  std::int64_t ahead = 0;  // of the rest
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < plant.cables.size(); ++i) {
    longest = std::max(longest, plant.cables[i].delay);
    if (plant.cables[i].to_switch != kNoIndex) continue;
    ahead = std::max(ahead, plant.details[i].wire.Duration(frame) + plant.cables[i].delay);
  }
  return Time::Picoseconds(ahead + 2 * longest);
}

}  // namespace trunkline
