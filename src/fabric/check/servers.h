#pragma once

#include <string>
#include <vector>

#include "trunkline/fabric/check.h"

namespace trunkline {

// What people call the server of an end: "node-5" of "node-5/mlx5_3" and of "nic:5/3".
[[nodiscard]] std::string ServerName(const Fabric& fabric, DeviceId end);

// Servers that lack a cable to a leaf where nearly all servers on the same leaves have one: it is
// missing, or leads to a leaf where the others have none.
[[nodiscard]] std::vector<FabricFinding> FindOddServers(const Fabric& fabric);

}  // namespace trunkline
