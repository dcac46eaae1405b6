#include "engine/flow/waiters.h"

#include <algorithm>

#include "engine/flow/problem.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

Waiters::Waiters(const Program& program, std::span<const std::uint32_t> role_predecessor) {
  const auto count = static_cast<std::uint32_t>(program.tasks.size());
  if (std::ranges::none_of(program.tasks, &Task::unordered)) return;
  const auto each = [&](auto end, auto start) {
    for (std::uint32_t task = 0; task < count; ++task) {
      for (const std::uint32_t other : program.dependencies_of(program.tasks[task])) {
        end(other, task);
      }
      const std::uint32_t other = role_predecessor[task];
      if (other != ProgramShape::kNoSlot) end(other, task);
      for (const std::uint32_t begun : program.start_dependencies_of(program.tasks[task])) {
        start(begun, task);
      }
    }
  };
  // Count, then fill each list from its end to its front.
  missing_.assign(count, 0);
  ends_.first.assign(count + 1, 0);
  starts_.first.assign(count + 1, 0);
  const auto counting = [&](Lists& lists) {
    return [&](std::uint32_t other, std::uint32_t task) {
      ++lists.first[other];
      ++missing_[task];
    };
  };
  each(counting(ends_), counting(starts_));
  const auto filling = [](Lists& lists) {
    std::uint32_t total = 0;
    for (std::uint32_t& first : lists.first) first = total += first;
    lists.waiters.resize(total);
    return [&](std::uint32_t other, std::uint32_t task) {
      lists.waiters[--lists.first[other]] = task;
    };
  };
  each(filling(ends_), filling(starts_));
}

}  // namespace trunkline
