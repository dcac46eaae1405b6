#include "fabric/routing/forwarding_tables.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trunkline {

ForwardingTables::ForwardingTables(const Fabric& fabric, const NetworkPaths& paths)
    : paths_(paths), table_of_device_(fabric.device_count(), 0) {
  std::uint32_t switches = 0;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto device = DeviceId(i);
    if (fabric.device(device).kind == DeviceKind::kSwitch) {
      table_of_device_[i] = switches++;
    } else if (paths.attached(device)) {
      order_.push_back(device);
    }
  }
  std::vector<std::uint32_t> ends(paths.destination_count());
  for (const DeviceId end : order_) ++ends[paths.destination(end)];
  std::ranges::sort(order_, {}, [&](DeviceId end) {
    return std::pair(~ends[paths.destination(end)], paths.label(end));
  });
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
  table.entries.resize(order_.size());
  for (const DeviceId end : order_) {
    if (!paths_.Forwards(at, end)) continue;
    const auto links = paths_.Next(at, end, scratch).links;
    const auto least =
        std::ranges::min_element(links, {}, [&](LinkId link) { return destinations_by[link]; });
    ++destinations_by[*least];
    table.entries[paths_.label(end)] = static_cast<std::uint16_t>(least - links.begin());
  }
}

}  // namespace trunkline
