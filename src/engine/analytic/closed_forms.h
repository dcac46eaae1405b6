#pragma once

#include "engine/analytic/group_model.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// The time of one collective of a group whose members start together, in closed form: each
// algorithm's steps, their bytes, and what the ways and cuts of the group make of them. Fails where
// the algorithm does not fit (as MakeSchedule does) and where a route is missing.
[[nodiscard]] Result<Time> CollectiveTime(GroupModel& group, const CollectiveChoice& choice);

}  // namespace trunkline
