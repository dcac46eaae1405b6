#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/schedule.h"
#include "trunkline/workload/task_graph.h"

// GOAL schedules (Group Operation Assembly Language, the form of LogGOPSim and ATLAHS): what every
// rank sends, receives and computes, and which of it requires which.
namespace trunkline {

// A schedule as a task graph of unordered tasks.
//
// `calc` is a compute task on the stream of its `cpu`. Messages match first in, first out by
// (source, destination, tag), in program order: the order of the file, except where a dependency
// asks for another.
struct GoalTrace {
  std::unique_ptr<TaskGraph> graph;
  std::uint64_t operations = 0;
  Diagnostics warnings;
};

// Text and binary are told apart by content. TL1101, TL1111, TL172x: every problem with its line
// and column, or its byte in a binary file.
[[nodiscard]] Result<GoalTrace> ReadGoal(const std::string& path);
// `file` names the bytes in diagnostics.
[[nodiscard]] Result<GoalTrace> ParseGoal(std::string_view bytes, const std::string& file);

// Writes the messages of a schedule as GOAL text, for the tools that read it. What only moves data
// inside a rank is left out, and the tag of a message is its channel. TL1735: a schedule that GOAL
// cannot say, since switches reduce in it or slots limit what is under way.
[[nodiscard]] Result<void> WriteGoal(const Schedule& schedule, std::ostream& out);

}  // namespace trunkline
