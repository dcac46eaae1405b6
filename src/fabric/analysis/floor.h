#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/fabric/cost.h"

namespace trunkline {

// Where every NIC, host and switch of a fabric stands: servers in racks that fill a square of rows
// from its middle outwards, a switch in the rack of the first server below it. No rack moves when
// more are added, so a fabric that grows never has a shorter cable for it.
class Floor {
 public:
  Floor(const Fabric& fabric, const FloorPlan& plan);

  // Of a cable between two of them, along aisles: rows and racks between, and the slack.
  [[nodiscard]] double Length(DeviceId a, DeviceId b) const;

 private:
  struct Place {
    std::int32_t rack = 0;  // in its row
    std::int32_t row = 0;
  };

  [[nodiscard]] Place PlaceOfRack(std::uint64_t rack) const;
  void PlaceNodes(const Fabric& fabric);
  void PlaceSwitches(const Fabric& fabric);

  FloorPlan plan_;
  std::vector<Place> places_;  // by device
};

}  // namespace trunkline
