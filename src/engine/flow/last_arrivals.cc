#include "engine/flow/last_arrivals.h"

#include <algorithm>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {

LastArrivals::LastArrivals(const TaskGraph& graph, const FlowProblem& problem,
                           const Folding& folding, const TaskRun& runner)
    : graph_(graph),
      problem_(problem),
      folding_(folding),
      runner_(runner),
      tasks_(problem.shapes.size()) {
  for (std::uint32_t program = 0; program < tasks_.size(); ++program) {
    const ProgramShape& shape = problem.shapes[program];
    const std::vector<Task>& tasks = graph.program(program).tasks;
    tasks_[program].resize(shape.ports.size());
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].kind == TaskKind::kCollective) tasks_[program][shape.slot[i]].push_back(i);
    }
  }
}

std::uint32_t LastArrivals::PortOf(RankId member, std::uint32_t communicator) const {
  const FlowProblem::Rank& rank = problem_.ranks[Index(member)];
  const auto ports = static_cast<std::uint32_t>(tasks_[rank.program].size());
  for (std::uint32_t port = 0; port < ports; ++port) {
    if (problem_.seats[rank.first_seat + port].communicator == communicator) return port;
  }
  TL_CHECK(false, "a member that never uses its communicator", Index(member), communicator);
  return 0;
}

const std::vector<LastArrivals::Execution>& LastArrivals::Of(std::uint32_t communicator) {
  const auto [entry, is_new] = known_.try_emplace(communicator);
  std::vector<Execution>& executions = entry->second;
  if (!is_new) return executions;
  // A member comes when the rank that is simulated for it does.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arriving;  // (simulated rank, port)
  for (const RankId member : problem_.communicators[communicator].members) {
    arriving.emplace_back(folding_.simulated_rank[Index(member)], PortOf(member, communicator));
  }
  std::ranges::sort(arriving);
  const auto repeats = std::ranges::unique(arriving);
  arriving.erase(repeats.begin(), repeats.end());
  for (const auto& [rank, port] : arriving) {
    const auto times = runner_.times(rank);
    const std::uint32_t program = problem_.ranks[Index(folding_.ranks[rank])].program;
    const std::vector<std::uint32_t>& tasks = tasks_[program][port];
    executions.resize(std::max(executions.size(), tasks.size()));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const TaskTimes& member = times[tasks[i]];
      Execution& execution = executions[i];
      execution.first = std::min(execution.first, member.start);
      execution.last = std::max(execution.last, member.start);
      execution.end = std::max(execution.end, member.end);
    }
  }
  return executions;
}

void LastArrivals::Mark(std::uint32_t rank, std::span<TaskTimes> times) {
  const FlowProblem::Rank& whole = problem_.ranks[Index(folding_.ranks[rank])];
  const std::vector<Task>& tasks = runner_.program_of(rank).tasks;
  for (std::uint32_t port = 0; port < tasks_[whole.program].size(); ++port) {
    const std::vector<std::uint32_t>& own = tasks_[whole.program][port];
    const std::vector<Execution>& executions =
        Of(problem_.seats[whole.first_seat + port].communicator);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Primitive primitive = graph_.collectives()[tasks[own[i]].collective].spec.primitive;
      times[own[i]].sent = SentOf(primitive, times[own[i]], executions[i].last);
    }
  }
}

}  // namespace trunkline
