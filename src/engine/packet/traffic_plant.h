#pragma once

#include <cstdint>
#include <vector>

#include "engine/packet/plant.h"
#include "fabric/network_paths.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// The plant of a run. Flows that start by themselves may touch all zones, so that these must have
// come to the same time: a start cuts the window of all zones short, of which a run of phases has a
// few and messages that come at random have thousands, where there is one zone. A trigger is heard
// of in no order of time, and starts flows where zones may have been: after the window, or there is
// one zone. Where zones are not worthwhile and what starts flows is known long enough before,
// endpoints may run ahead instead (ends_ahead.h): `may_run_ahead`.
[[nodiscard]] Plant BuildTrafficPlant(const PacketInput& input, const NetworkPaths& paths,
                                      const TrafficWorkload& traffic, const Placement& placement,
                                      std::vector<CableChange> faults, bool may_run_ahead);

// By rank, a network link out of its endpoint; kNoIndex where others send for it.
[[nodiscard]] std::vector<std::uint32_t> FindPostingLinks(const Fabric& fabric,
                                                          const Placement& placement);

// By device, about how much of the work of a run is done there, to divide it among `parts`; empty
// for one.
[[nodiscard]] std::vector<std::uint64_t> WorkOf(const Router& router,
                                                const TrafficWorkload& traffic,
                                                const Placement& placement, std::uint32_t parts);

}  // namespace trunkline
