#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trunkline/collective/primitive.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/workload/task_graph.h"

// Where a rank's time went, from when its tasks ran: shared by every engine, so that their
// breakdowns mean the same.
namespace trunkline {

// When one task ran.
struct TaskTimes {
  Time start;  // its stream was free and its dependencies done
  Time sent;   // its bytes were on the way: a receive: the sender's transfer began (before `start`
               // when the message was early); a collective: SentOf; every other task: `start`
  Time end;
};

// `sent` of a collective to which the last member came at `last_arrival`: that time where the
// result needs every member (primitive.h), else `start`. A rank that was done earlier, since its
// part was empty, waited for nobody.
[[nodiscard]] Time SentOf(Primitive primitive, const TaskTimes& times, Time last_arrival);

// The parts of timeline.h for a rank whose task i ran at times[i]. Idle time of the compute stream
// is attributed by walking back from the compute task that ends it, each time to the dependency or
// predecessor (task_order.h) that finished last: a task's interval is a bubble until `sent` and
// exposed communication from then on. compute + exposed_communication + bubble + other == step_end.
// REQUIRES: times.size() == program.tasks.size(); every end <= step_end.
[[nodiscard]] RankSummary AccountRank(RankId rank, const Program& program,
                                      std::span<const TaskTimes> times, Time step_end);

// The collectives of a rank by (collective, role): count, total, waiting (from `start` to `sent`)
// and exposed (the part of the rest in which the compute stream was idle). Group size and bound are
// the engine's to fill, before TimeCollectives.
[[nodiscard]] std::vector<CollectiveSummary> AccountCollectives(const Program& program,
                                                                std::span<const TaskTimes> times);

// Fills in timed_count and timed of the collectives of that rank, whose bounds are known by now.
void TimeCollectives(const Program& program, std::span<const TaskTimes> times,
                     std::span<CollectiveSummary> summaries);

}  // namespace trunkline
