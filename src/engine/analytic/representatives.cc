#include "engine/analytic/representatives.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace trunkline {
namespace {

// Grows the set until nothing that its members need is missing.
class Closure {
 public:
  explicit Closure(const TaskGraph& graph) : graph_(graph), is_in_(graph.ranks()) {}

  void Add(RankId rank) {
    if (IsIn(rank)) return;
    is_in_[Index(rank)] = 1;
    ranks_.push_back(rank);
    pending_.push_back(rank);
  }

  [[nodiscard]] std::vector<RankId> Take() {
    while (!pending_.empty()) {
      const RankId rank = pending_.back();
      pending_.pop_back();
      AddPartners(rank);
    }
    std::ranges::sort(ranks_);
    return std::move(ranks_);
  }

 private:
  void AddPartners(RankId rank) {
    for (const auto& [is_communicator, role] : RolesOf(graph_.program_of(rank))) {
      if (is_communicator) {
        AddCommunicator(graph_.communicator(rank, role));
      } else {
        Add(graph_.peer(rank, role));
      }
    }
  }

  [[nodiscard]] bool IsIn(RankId rank) const { return is_in_[Index(rank)] != 0; }

  // (is a communicator, role), ascending; few.
  using Roles = std::vector<std::pair<bool, std::uint32_t>>;

  const Roles& RolesOf(std::uint32_t program) {
    const auto [known, added] = roles_.try_emplace(program);
    if (!added) return known->second;
    for (const Task& task : graph_.program(program).tasks) {
      if (task.kind == TaskKind::kCompute) continue;
      const std::pair role(task.kind == TaskKind::kCollective, task.role);
      if (std::ranges::find(known->second, role) == known->second.end()) {
        known->second.push_back(role);
      }
    }
    std::ranges::sort(known->second);
    return known->second;
  }

  void AddCommunicator(CommunicatorId id) {
    if (!communicators_.insert(id).second) return;
    const std::vector<RankId> members = graph_.members(id);
    std::vector<char> present(graph_.program_count());
    for (const RankId member : members) {
      if (IsIn(member)) present[graph_.program_of(member)] = 1;
    }
    for (const RankId member : members) {
      if (std::exchange(present[graph_.program_of(member)], 1) == 0) Add(member);
    }
  }

  const TaskGraph& graph_;
  std::map<std::uint32_t, Roles> roles_;  // by program
  std::vector<char> is_in_;               // by rank
  std::vector<RankId> ranks_;
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
