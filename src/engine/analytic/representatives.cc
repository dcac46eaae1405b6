#include "engine/analytic/representatives.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trunkline {
namespace {

// Grows the set until nothing that its members need is missing.
class Closure {
 public:
  explicit Closure(const TaskGraph& graph) : graph_(graph) {}

  void Add(RankId rank) {
    if (ranks_.insert(rank).second) pending_.push_back(rank);
  }

  [[nodiscard]] std::vector<RankId> Take() {
    while (!pending_.empty()) {
      const RankId rank = pending_.back();
      pending_.pop_back();
      AddPartners(rank);
    }
    return {ranks_.begin(), ranks_.end()};
  }

 private:
  void AddPartners(RankId rank) {
    std::set<std::pair<bool, std::uint32_t>> roles;  // (is a communicator, role)
    for (const Task& task : graph_.program(graph_.program_of(rank)).tasks) {
      if (task.kind != TaskKind::kCompute) {
        roles.emplace(task.kind == TaskKind::kCollective, task.role);
      }
    }
    for (const auto& [is_communicator, role] : roles) {
      if (is_communicator) {
        AddCommunicator(graph_.communicator(rank, role));
      } else {
        Add(graph_.peer(rank, role));
      }
    }
  }

  void AddCommunicator(CommunicatorId id) {
    if (!communicators_.insert(id).second) return;
    const std::vector<RankId> members = graph_.members(id);
    std::set<std::uint32_t> programs;
    for (const RankId member : members) {
      if (ranks_.contains(member)) programs.insert(graph_.program_of(member));
    }
    for (const RankId member : members) {
      if (programs.insert(graph_.program_of(member)).second) Add(member);
    }
  }

  const TaskGraph& graph_;
  std::set<RankId> ranks_;
  std::set<CommunicatorId> communicators_;
  std::vector<RankId> pending_;
};

}  // namespace

std::vector<RankId> Representatives(const TaskGraph& graph) {
  Closure closure(graph);
  std::vector<bool> seen(graph.program_count());
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const std::uint32_t program = graph.program_of(RankId(r));
    if (!seen[program]) closure.Add(RankId(r));
    seen[program] = true;
  }
  return closure.Take();
}

}  // namespace trunkline
