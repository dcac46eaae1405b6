#include "engine/coupled/matched_tasks.h"

#include <map>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

void Append(std::vector<std::vector<std::uint32_t>>& by_role, std::uint32_t role,
            std::uint32_t task) {
  if (role >= by_role.size()) by_role.resize(role + 1);
  by_role[role].push_back(task);
}

}  // namespace

MatchedTasks::MatchedTasks(const TaskGraph& graph)
    : graph_(graph),
      ordinals_(graph.program_count()),
      sends_(graph.program_count()),
      collectives_(graph.program_count()) {
  for (std::uint32_t program = 0; program < graph.program_count(); ++program) {
    const std::vector<Task>& tasks = graph.program(program).tasks;
    std::map<std::pair<TaskKind, std::uint32_t>, std::uint32_t> seen;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      ordinals_[program].push_back(seen[{task.kind, task.role}]++);
      if (task.kind == TaskKind::kSend) Append(sends_[program], task.role, i);
      if (task.kind == TaskKind::kCollective) Append(collectives_[program], task.role, i);
    }
  }
}

std::uint32_t MatchedTasks::CollectiveOf(RankId member, CommunicatorId communicator,
                                         std::uint32_t ordinal) const {
  const ByRole& by_role = collectives_[graph_.program_of(member)];
  std::uint32_t role = 0;
  while (by_role[role].empty() || graph_.communicator(member, role) != communicator) {
    ++role;
    TL_CHECK(role < by_role.size(), "a member that never uses its communicator", Index(member));
  }
  return by_role[role][ordinal];
}

MatchedTasks::Place MatchedTasks::SendOf(RankId rank, std::uint32_t receive) const {
  const std::uint32_t program = graph_.program_of(rank);
  const std::uint32_t role = graph_.program(program).tasks[receive].role;
  const RankId sender = graph_.peer(rank, role);
  const ByRole& sends = sends_[graph_.program_of(sender)];
  return {sender, sends[graph_.sender_role(rank, role)][ordinals_[program][receive]]};
}

}  // namespace trunkline
