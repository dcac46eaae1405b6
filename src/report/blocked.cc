#include "report/blocked.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "trunkline/base/check.h"
#include "trunkline/engine/packet_window.h"

namespace trunkline {

const std::vector<BlockedTask>& BlockedOf(const RunResult& result) {
  const bool window = result.window != nullptr && !result.window->blocked.empty();
  return window ? result.window->blocked : result.timeline.blocked;
}

std::string ChainOfWaits(const std::vector<BlockedTask>& blocked) {
  TL_CHECK(!blocked.empty(), "nobody waits");
  constexpr std::size_t kMost = 12;
  std::map<RankId, const BlockedTask*> first;  // by rank: a task that waits for a rank, if any does
  for (const BlockedTask& task : blocked) {
    const BlockedTask*& known = first[task.rank];
    if (known == nullptr || (!known->peer && task.peer)) known = &task;
  }
  std::string text = fmt::format("rank {}", Index(blocked.front().rank));
  std::set<RankId> named;
  for (RankId rank = blocked.front().rank; named.insert(rank).second;) {
    const auto task = first.find(rank);
    if (task == first.end()) {
      return fmt::format("{}, which waits for nobody: what it sent did not arrive", text);
    }
    if (!task->second->peer)
      return fmt::format("{}, which waits for {}", text, task->second->waits_for);
    rank = *task->second->peer;
    text += fmt::format("{} rank {}", named.size() == 1 ? " waits for" : ", which waits for",
                        Index(rank));
    if (named.size() == kMost) return text + ", and so on";
  }
  return text + ": they wait in a circle";
}

}  // namespace trunkline
