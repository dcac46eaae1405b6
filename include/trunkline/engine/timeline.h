#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"
#include "trunkline/collective/primitive.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

enum class RunStatus : std::uint8_t {
  kFinished,
  kSaturated,
  kDeadlocked,
  kInterrupted,
  kUnfinished
};
[[nodiscard]] const char* ToString(RunStatus status);

// One task of one rank as it happened.
struct TaskSpan {
  RankId rank{};
  std::uint32_t task = 0;  // index in the rank's program
  std::uint8_t stream = 0;
  std::uint16_t label = 0;
  Time start;
  Time end;
};

// Where a rank's time went. compute + exposed_communication + bubble + other == Timeline::end
// exactly (for the critical rank that is its finish):
//   compute                the compute stream is busy
//   exposed_communication  it is idle and the task it waits for next waits for bytes in flight
//   bubble                 it is idle because somebody else is late: the sender of what it waits
//                          for has not sent yet, or the last member of a collective has not come
// A rank waits for the last member only where its result needs every member: in AllReduce,
// ReduceScatter, AllGather, AllToAll(v) and Barrier. With a root or in pairs some are done before
// all have come, so the whole of such a collective counts as communication.
//   other                  the rest (after its last task until the step ends)
struct RankSummary {
  RankId rank{};
  std::uint32_t ranks_represented = 1;  // congruent ranks folded into this one
  Time finish;                          // the end of its last task
  Time compute;
  Time exposed_communication;
  Time bubble;
  Time other;
  Time communication;  // union of the times in which any communication of the rank was in flight
};

// All executions of one kind of collective (same choice, same communicator role).
struct CollectiveSummary {
  std::uint32_t collective = 0;  // index into TaskGraph::collectives()
  std::uint32_t role = 0;
  std::uint32_t group_size = 0;
  std::uint64_t count = 0;  // per rank of the critical rank's program
  Time total;               // on the critical rank, from its start to its end
  Time waiting;             // of that, before the last member came
  Time exposed;             // of the rest, not hidden by compute
  Time bound;               // lower bound of one execution
  // Executions that took at least `bound` from when the last member came, and that time. In all
  // others members that had come before had moved bytes: what is left then is no collective's time.
  std::uint64_t timed_count = 0;
  Time timed;
};

struct LinkUse {
  LinkId link{};
  std::int64_t wire_bytes = 0;
  // Where packets were counted one by one, when the last of them had left; else 0.
  Time until = {};
};

// A task that never ended, and what it waits for.
struct BlockedTask {
  RankId rank{};
  std::uint32_t task = 0;
  std::string waits_for;
  std::optional<RankId> peer = {};  // whom, where it is one rank
};

struct FlowCounters {
  std::uint64_t solves = 0;  // max-min solutions computed
  std::uint64_t reuses = 0;  // collectives answered from the memo
  std::uint64_t transfers_simulated = 0;
  std::uint64_t transfers_represented = 0;  // simulated x congruent ranks, memo included
  std::uint64_t fold_classes = 0;           // distinct rank classes; 0 when not folded
};

// What happened when: the outcome of an engine.
// Groups of two streams of one rank that crossed its NICs at once, as long as each takes by itself.
struct GroupsTogether {
  Time time;
  std::string first;  // streams
  std::string second;
};

struct Timeline {
  RunStatus status = RunStatus::kFinished;
  Time end;
  std::uint64_t events = 0;
  std::vector<RankSummary> ranks;  // one per simulated rank (class), by rank id
  std::size_t critical = 0;        // index into `ranks` of the one that finishes last
  std::vector<TaskSpan> spans;     // of the recorded ranks, by (rank, start, task)
  std::vector<CollectiveSummary> collectives;
  std::vector<LinkUse> links;        // every link with traffic, by link id
  std::vector<BlockedTask> blocked;  // not empty exactly when kUnfinished or kDeadlocked
  FlowCounters flow;
  GroupsTogether together;  // of the analytic engine, the longest; 0: none
};

}  // namespace trunkline
