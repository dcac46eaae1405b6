#include "trace/goal_graph.h"

#include <fmt/format.h>

#include "trunkline/base/check.h"

namespace trunkline {

GoalGraph::GoalGraph(std::vector<Program> programs, std::vector<std::uint32_t> program_of,
                     std::vector<std::vector<Role>> roles, std::uint32_t cpus)
    : programs_(std::move(programs)),
      program_of_(std::move(program_of)),
      roles_(std::move(roles)),
      labels_{{.name = "calc", .phase = Phase::kForward},
              {.name = "send", .phase = Phase::kCommunication},
              {.name = "receive", .phase = Phase::kCommunication}} {
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) streams_.push_back(fmt::format("cpu {}", cpu));
}

std::uint16_t GoalGraph::LabelOf(TaskKind kind) {
  if (kind == TaskKind::kCompute) return 0;
  return kind == TaskKind::kSend ? 1 : 2;
}

CommunicatorId GoalGraph::communicator(RankId rank, std::uint32_t role) const {
  TL_CHECK(false, "a GOAL schedule has no communicators", Index(rank), role);
  return CommunicatorId{0};
}

std::vector<RankId> GoalGraph::members(CommunicatorId communicator) const {
  TL_CHECK(false, "a GOAL schedule has no communicators", Index(communicator));
  return {};
}

std::uint32_t GoalGraph::reverse_role(std::uint32_t role) const {
  TL_CHECK(false, "the roles of a GOAL schedule depend on the rank", role);
  return role;
}

}  // namespace trunkline
