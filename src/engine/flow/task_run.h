#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/accounting.h"
#include "engine/flow/interpreter.h"
#include "trunkline/engine/timeline.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// What became of the task programs of the simulated ranks.
class TaskRun {
 public:
  virtual ~TaskRun() = default;
  // By task of a simulated rank's program. A task that never ended has an end before time zero.
  [[nodiscard]] virtual std::span<const TaskTimes> times(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual const Program& program_of(std::uint32_t rank) const = 0;
  [[nodiscard]] static bool Ended(const TaskTimes& times) { return times.end >= Time(); }
  // Tasks that are under way or wait for something outside their rank.
  [[nodiscard]] virtual std::vector<BlockedTask> Blocked() const = 0;
  // By class of connections.
  [[nodiscard]] virtual std::vector<Traffic> AllTraffic() const = 0;
  [[nodiscard]] virtual FlowCounters counters() const = 0;
  [[nodiscard]] virtual std::uint64_t events() const = 0;
};

}  // namespace trunkline
