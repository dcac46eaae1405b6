#include "report/lanes.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace trunkline {

std::vector<Lane> LanesOf(const RunResult& result) {
  std::set<std::pair<RankId, std::uint8_t>> used;
  for (const TaskSpan& span : result.timeline.spans) used.emplace(span.rank, span.stream);
  std::vector<Lane> lanes;
  for (const auto& [rank, stream] : used) {
    lanes.push_back({rank, stream, lanes.empty() || lanes.back().rank != rank});
  }
  return lanes;
}

SpanMeaning MeaningOf(const RunResult& result, std::uint16_t label) {
  if (!result.training) return {"collective", Phase::kCommunication};
  const TaskLabel& known = result.training->graph->labels()[label];
  return {known.name, known.phase};
}

std::string StreamName(const RunResult& result, std::uint8_t stream) {
  if (!result.training) return fmt::format("stream {}", stream);
  return result.training->graph->streams()[stream];
}

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

}  // namespace trunkline
