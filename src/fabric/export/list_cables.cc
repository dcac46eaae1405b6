#include <utility>
#include <vector>

#include "fabric/check/servers.h"
#include "fabric/export/writer.h"

namespace trunkline {

CableList ListCables(const Fabric& fabric) {
  CableList list;
  std::vector<std::uint32_t> index(fabric.device_count(), UINT32_MAX);
  std::vector<std::uint32_t> port(fabric.link_count(), 0);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto id = static_cast<DeviceId>(i);
    const Device& device = fabric.device(id);
    std::uint32_t ports = 0;
    for (LinkId link : fabric.out(id)) {
      if (fabric.link(link).kind == LinkKind::kNetwork) port[Index(link)] = ++ports;
    }
    const bool is_switch = device.kind == DeviceKind::kSwitch;
    if (!is_switch && ports == 0) continue;
    index[i] = static_cast<std::uint32_t>(list.devices.size());
    CableList::Device listed{.kind = is_switch ? DeviceKind::kSwitch : DeviceKind::kNic,
                             .name = fabric.name(id)};
    if (is_switch) {
      listed.latency = device.latency;
    } else {
      listed.host = ServerName(fabric, id);
    }
    list.devices.push_back(std::move(listed));
  }
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) continue;
    list.cables.push_back({{index[Index(link.from)], port[i]},
                           {index[Index(link.to)], port[i + 1]},
                           link.rate,
                           link.latency,
                           0});
  }
  return list;
}

}  // namespace trunkline
