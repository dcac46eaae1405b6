#include "scenario/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

#include "trunkline/training/training.h"

namespace trunkline {
namespace {

bool Moves(const Task& task) { return task.kind != TaskKind::kCompute; }

Diagnostics Unknown(const WindowSpec::Name& name, const TaskGraph& graph, std::uint32_t most) {
  Diagnostic problem;
  problem.code = "TL1213";
  problem.where = name.where;
  problem.excerpt = name.excerpt;
  if (most > 0) {
    problem.message =
        fmt::format("a rank has '{}' {} times, not {}", name.label, most, name.execution);
    problem.hint = fmt::format("write '{}#1' to '{}#{}', or leave the number out for all",
                               name.label, name.label, most);
  } else {
    std::set<std::string> known;
    for (std::uint32_t program = 0; program < graph.program_count(); ++program) {
      for (const Task& task : graph.program(program).tasks) {
        if (Moves(task)) known.insert(graph.labels()[task.label].name);
      }
    }
    problem.message = fmt::format("the step has no '{}'", name.label);
    problem.hint = fmt::format("it has {}", fmt::join(known, ", "));
  }
  return {std::move(problem)};
}

Result<void> AddTasks(const WindowSpec::Name& name, const TaskGraph& graph,
                      std::vector<PacketWindow::TaskRange>& ranges) {
  std::uint32_t most = 0;
  const std::size_t before = ranges.size();
  for (std::uint32_t program = 0; program < graph.program_count(); ++program) {
    const std::vector<Task>& tasks = graph.program(program).tasks;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      if (!Moves(tasks[i]) || graph.labels()[tasks[i].label].name != name.label) continue;
      if (++count == name.execution || name.execution == 0) ranges.push_back({program, i, i});
    }
    most = std::max(most, count);
  }
  if (ranges.size() == before) return std::unexpected(Unknown(name, graph, most));
  return {};
}

}  // namespace

Result<PacketWindow> ResolveWindow(const WindowSpec& spec, const TaskGraph& graph,
                                   const TrainingWorkload* training) {
  PacketWindow window;
  if (spec.time) {
    window.from = spec.time->first;
    window.until = spec.time->second;
    return window;
  }
  for (const WindowSpec::Name& name : spec.collectives) {
    if (auto added = AddTasks(name, graph, window.tasks); !added) {
      return std::unexpected(added.error());
    }
  }
  if (!spec.layers) return window;
  for (const LayerTasks& layer : training->last_backward) {
    if (layer.layer < spec.layers->first || layer.layer > spec.layers->last) continue;
    window.tasks.push_back({layer.program, layer.first, layer.last});
  }
  return window;
}

Diagnostics PlaceAt(const WindowSpec& spec, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    if (problem.code != "TL1624" || !problem.where.file.empty()) continue;
    problem.where = spec.where;
    problem.excerpt = spec.excerpt;
  }
  return problems;
}

}  // namespace trunkline
