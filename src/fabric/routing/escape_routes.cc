#include "fabric/routing/escape_routes.h"

#include <algorithm>
#include <vector>

#include "fabric/routing/heights.h"
#include "fabric/routing/torus_order.h"

namespace trunkline {

EscapeRoutes::EscapeRoutes(const Fabric& fabric)
    : fabric_(fabric),
      by_dimension_(IsWholeTorus(fabric)),
      paths_(by_dimension_ ? NetworkPaths(fabric) : NetworkPaths(fabric, SwitchHeights(fabric))) {}

std::optional<LinkId> EscapeRoutes::Next(DeviceId at, DeviceId dst) const {
  if (!paths_.Forwards(at, dst)) return std::nullopt;
  std::vector<LinkId> scratch;
  const NetworkPaths::Ports ports = paths_.Next(at, dst, scratch);
  if (!by_dimension_) return ports.links.front();
  const auto cable = std::ranges::find(fabric_.out(dst), LinkKind::kNetwork,
                                       [&](LinkId link) { return fabric_.link(link).kind; });
  std::vector<LinkId> kept;
  KeepFirstDimension(fabric_, at, fabric_.link(*cable).to, ports.links, kept);
  return kept.front();
}

std::uint8_t EscapeRoutes::ChannelBehind(std::optional<LinkId> before, std::uint8_t channel,
                                         LinkId link) const {
  if (!by_dimension_ || !before) return 0;
  return TorusChannelBehind(TorusStepOf(fabric_, *before), channel, TorusStepOf(fabric_, link));
}

std::uint32_t EscapeChannels(const Fabric& fabric) { return fabric.torus().empty() ? 1 : 2; }

}  // namespace trunkline
