#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trunkline/fabric/weak_points.h"

// What stays joined when something fails. NICs and hosts are vertices of their own: what joins the
// NICs of a server inside it does not count.
namespace trunkline {

struct CableName {
  std::string kind;  // "nic to leaf cable", the lower end first
  std::string name;  // "nic:0/3/leaf-3", as faults name it
};
[[nodiscard]] CableName NameOfCable(const Fabric& fabric, LinkId cable);

// Attached NICs (or hosts) that no longer reach the most of those which they reached: all but the
// largest set left of each set that was joined. What was apart before is not lost.
struct LostEnds {
  std::uint64_t nics = 0;
  std::uint64_t nodes = 0;  // all of whose NICs are lost
};
// `failed`: by link. A device all of whose network cables fail is gone; its own NIC counts as lost.
[[nodiscard]] LostEnds FindLostEnds(const Fabric& fabric, const std::vector<bool>& failed);

// Devices and cables whose failure alone cuts off NICs other than itself (articulation points and
// bridges, Hopcroft and Tarjan 1973), alike ones counted together.
[[nodiscard]] std::vector<SinglePoint> FindSinglePoints(const Fabric& fabric);

}  // namespace trunkline
