#pragma once

#include <optional>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// What a run fixes beforehand; whatever is left open is chosen by cost.
struct Wishes {
  std::optional<Protocol> protocol;
  std::uint32_t channels = 0;  // 0: open
};

// How the members of a group sit in the nodes of the fabric.
[[nodiscard]] GroupLayout LayoutOf(const Fabric& fabric, const Placement& placement,
                                   const std::vector<RankId>& members);

// `choice` with algorithm, protocol and channels for the group: those named are kept, "auto" is
// replaced.
[[nodiscard]] Result<CollectiveChoice> Choose(const CollectiveChoice& choice, const Wishes& wishes,
                                              const Router& router, const TransportModel& transport,
                                              const Placement& placement,
                                              const std::vector<RankId>& members);

// The choices of every collective of a graph, each for the first group that runs it.
[[nodiscard]] Result<std::vector<CollectiveChoice>> ChooseAll(const TaskGraph& graph,
                                                              const Router& router,
                                                              const TransportModel& transport,
                                                              const Placement& placement);

}  // namespace trunkline
