#pragma once

#include <string_view>

#include "fuzz/fuzz.h"
#include "trunkline/trace/goal.h"

namespace trunkline {

// A GOAL file is refused with reasons, or is a graph that an engine can run.
inline void RequireGoalLaws(std::string_view bytes) {
  const auto trace = ParseGoal(bytes, "fuzz.goal");
  if (!trace) {
    RequireExplained(trace.error());
    return;
  }
  const TaskGraph& graph = *trace->graph;
  // Seven bytes are the shortest operation, eight the shortest block.
  Require(trace->operations <= bytes.size() / 7, "operations have bytes to back them");
  Require(graph.ranks() > 0 && graph.ranks() <= bytes.size() / 8, "ranks have bytes to back them");
  std::uint64_t tasks = 0;
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    const Program& program = graph.program(graph.program_of(rank));
    tasks += program.tasks.size();
    for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
      const Task& task = program.tasks[i];
      for (const std::uint32_t needed : program.dependencies_of(task)) {
        Require(needed < i, "a task comes after what it needs");
      }
      for (const std::uint32_t needed : program.start_dependencies_of(task)) {
        Require(needed < i, "a task comes after what must have started");
      }
      if (task.kind == TaskKind::kCompute) continue;
      const RankId peer = graph.peer(rank, task.role);
      Require(Index(peer) < graph.ranks() && peer != rank, "a peer is another rank");
      const std::uint32_t reverse = graph.sender_role(rank, task.role);
      Require(graph.peer(peer, reverse) == rank, "the peer's role leads back");
      Require(graph.sender_role(peer, reverse) == task.role, "roles pair up");
    }
  }
  Require(tasks == trace->operations, "every operation is a task");
}

}  // namespace trunkline
