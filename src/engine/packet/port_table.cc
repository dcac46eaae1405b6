#include "engine/packet/port_table.h"

#include <map>

#include "fabric/network_paths.h"
#include "trunkline/base/check.h"

namespace trunkline {

PortTable::PortTable(const Fabric& fabric, const NetworkPaths& paths,
                     std::span<const std::uint32_t> switch_of_device,
                     std::span<const LinkId> original)
    : sets_(1), links_(1) {
  std::vector<DeviceId> switches;
  std::vector<DeviceId> one_of_group;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto device = DeviceId(i);
    if (fabric.device(device).kind == DeviceKind::kSwitch) {
      TL_CHECK(switch_of_device[i] == switches.size(), "switches out of order");
      switches.push_back(device);
    } else if (paths.attached(device)) {
      const std::uint32_t group = paths.destination(device);
      if (group >= one_of_group.size()) one_of_group.resize(group + 1, device);
      one_of_group[group] = device;
    }
  }
  groups_ = static_cast<std::uint32_t>(one_of_group.size());
  table_.resize(switches.size() * groups_, 0);
  std::map<const LinkId*, std::uint32_t> known;  // sets are interned where they come from
  std::vector<LinkId> scratch;
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    for (std::uint32_t g = 0; g < groups_; ++g) {
      if (!paths.Forwards(switches[s], one_of_group[g])) continue;
      const auto ports = paths.Next(switches[s], one_of_group[g], scratch);
      const LinkId* first = ports.links.data();
      const auto [entry, is_new] =
          known.try_emplace(first, static_cast<std::uint32_t>(sets_.size()));
      if (is_new) {
        sets_.push_back({static_cast<std::uint32_t>(links_.size()),
                         static_cast<std::uint32_t>(ports.links.size())});
        for (const LinkId link : ports.links) {
          const LinkId name = original.empty() ? link : original[Index(link)];
          links_.push_back(static_cast<std::uint32_t>(Index(name)));
        }
      }
      table_[std::size_t{s} * groups_ + g] = entry->second;
    }
  }
}

}  // namespace trunkline
