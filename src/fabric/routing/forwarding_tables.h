#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "fabric/network_paths.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Forwarding tables that spread destinations: a switch sends each NIC and host by that of its ports
// towards it which has the fewest so far, the first of equals. Those at the switches with the most
// of them come first, then they follow their labels: the order of opensm 3.3 (its
// osm_ucast_mgr.c, sort_ports_by_switch_load).
//
// A switch's table is made when a path first needs it. Safe for concurrent readers.
class ForwardingTables {
 public:
  // REQUIRES: `paths` outlives the tables.
  ForwardingTables(const Fabric& fabric, const NetworkPaths& paths);

  // Which of paths.Next(at, destination) the table of the switch `at` names.
  [[nodiscard]] std::uint32_t Entry(DeviceId at, DeviceId destination) const;

 private:
  struct Table {
    std::once_flag made;
    std::vector<std::uint16_t> entries;  // by label
  };
  void Make(DeviceId at, Table& table) const;

  const NetworkPaths& paths_;
  std::vector<DeviceId> order_;
  std::vector<std::uint32_t> table_of_device_;
  std::unique_ptr<Table[]> tables_;
};

}  // namespace trunkline
