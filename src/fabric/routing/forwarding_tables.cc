#include "fabric/routing/forwarding_tables.h"

#include <algorithm>
#include <unordered_map>

namespace trunkline {

ForwardingTables::ForwardingTables(const Fabric& fabric, const NetworkPaths& paths)
    : paths_(paths), table_of_device_(fabric.device_count(), 0) {
  std::uint32_t switches = 0;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto device = DeviceId(i);
    if (fabric.device(device).kind == DeviceKind::kSwitch) {
      table_of_device_[i] = switches++;
    } else if (paths.attached(device)) {
      by_label_.push_back(device);
    }
  }
  std::ranges::sort(by_label_, {}, [&](DeviceId end) { return paths.label(end); });
  tables_ = std::make_unique<Table[]>(switches);
}

std::uint32_t ForwardingTables::Entry(DeviceId at, DeviceId destination) const {
  Table& table = tables_[table_of_device_[Index(at)]];
  std::call_once(table.made, [&] { Make(at, table); });
  return table.entries[paths_.label(destination)];
}

void ForwardingTables::Make(DeviceId at, Table& table) const {
  std::unordered_map<LinkId, std::uint32_t> destinations_by;
  std::vector<LinkId> scratch;
  table.entries.reserve(by_label_.size());
  for (const DeviceId end : by_label_) {
    std::uint16_t chosen = 0;
    if (paths_.Forwards(at, end)) {
      const auto links = paths_.Next(at, end, scratch).links;
      const auto least =
          std::ranges::min_element(links, {}, [&](LinkId link) { return destinations_by[link]; });
      ++destinations_by[*least];
      chosen = static_cast<std::uint16_t>(least - links.begin());
    }
    table.entries.push_back(chosen);
  }
}

}  // namespace trunkline
