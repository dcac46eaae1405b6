#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

// What every task of a program follows beside its dependencies.
struct TaskOrder {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit TaskOrder(const Program& program);

  // By task: the one before it in its stream; none of an unordered task.
  std::vector<std::uint32_t> stream_predecessor;
  // By task: the one before it on the same communicator, or sending or receiving on the same peer
  // role: these run in program order whatever their streams.
  std::vector<std::uint32_t> role_predecessor;
};

}  // namespace trunkline
