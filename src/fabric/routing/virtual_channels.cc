#include "fabric/routing/virtual_channels.h"

#include "fabric/routing/torus_order.h"

namespace trunkline {

std::vector<std::uint8_t> ChannelsOfPath(const Fabric& fabric, std::span<const LinkId> path) {
  std::vector<std::uint8_t> channels = {0};
  if (path.size() < 2) return channels;
  const auto between = path.subspan(1, path.size() - 2);
  if (!fabric.torus().empty()) {
    AddTorusChannels(fabric, between, channels);
  } else {
    std::uint8_t crossed = 0;
    for (const LinkId id : between) {
      const Link& link = fabric.link(id);
      channels.push_back(crossed);
      if (fabric.device(link.from).group != fabric.device(link.to).group) ++crossed;
    }
  }
  channels.push_back(channels.back());
  return channels;
}

}  // namespace trunkline
