#include "report/lanes.h"

#include <set>
#include <utility>

#include "trunkline/training/training.h"

namespace trunkline {

std::vector<TimelineLane> LanesOf(const RunResult& result) {
  std::set<std::pair<RankId, std::uint8_t>> used;
  for (const TaskSpan& span : result.timeline.spans) used.emplace(span.rank, span.stream);
  std::vector<TimelineLane> lanes;
  for (const auto& [rank, stream] : used) {
    lanes.push_back({rank, stream, lanes.empty() || lanes.back().rank != rank});
  }
  return lanes;
}

namespace {

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kRecompute:
      return "recompute";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kCommunication:
      return "communication";
  }
  return "";
}

// What ran; nullptr for a lone collective.
const TaskGraph* GraphOf(const RunResult& result) {
  return result.training ? result.training->graph.get() : result.trace.get();
}

}  // namespace

SpanMeaning MeaningOf(const RunResult& result, const TaskSpan& span) {
  const TaskGraph* graph = GraphOf(result);
  if (graph == nullptr) return {"collective", PhaseName(Phase::kCommunication)};
  const TaskLabel& label = graph->labels()[span.label];
  const Task& task = graph->program(graph->program_of(span.rank)).tasks[span.task];
  return {label.name, task.kind == TaskKind::kReceive ? "receive" : PhaseName(label.phase)};
}

std::string StreamName(const RunResult& result, std::uint8_t stream) {
  const TaskGraph* graph = GraphOf(result);
  return graph == nullptr ? "collective" : graph->streams()[stream];
}

}  // namespace trunkline
