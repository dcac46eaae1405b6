#include "trace/goal_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "base/none.h"
#include "trace/goal_limits.h"
#include "trace/goal_matching.h"
#include "trunkline/base/random.h"

namespace trunkline {

std::vector<std::uint32_t> GoalOrder(const GoalBlock& block) {
  const auto count = static_cast<std::uint32_t>(block.operations.size());
  const bool in_order = std::ranges::all_of(
      block.dependencies, [](const GoalDependency& d) { return d.needed < d.task; });
  std::vector<std::uint32_t> order;
  order.reserve(count);
  if (in_order) {
    for (std::uint32_t i = 0; i < count; ++i) order.push_back(i);
    return order;
  }
  std::vector<std::uint32_t> missing(count, 0);
  std::vector<std::vector<std::uint32_t>> waiters(count);
  for (const GoalDependency& dependency : block.dependencies) {
    ++missing[dependency.task];
    waiters[dependency.needed].push_back(dependency.task);
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  for (; !ready.empty();) {
    const std::uint32_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::uint32_t waiter : waiters[next]) {
      if (--missing[waiter] == 0) ready.push(waiter);
    }
  }
  return order;
}

void GoalBuilder::Add(const GoalBlock& block) {
  if (place_of_.empty()) {
    place_of_.assign(reader_.ranks(), kNoPlace);
    program_of_.assign(reader_.ranks(), 0);
    peers_.resize(reader_.ranks());
  }
  if (!CheckPlace(block)) return;
  place_of_[block.rank] = block.begin;
  operations_ += block.operations.size();
  if (!CheckOperations(block)) return;
  const std::vector<std::uint32_t> order = GoalOrder(block);
  if (order.size() < block.operations.size()) {
    ReportCycle(block, order);
    return;
  }
  if (problems_.any()) return;
  roles_.clear();
  role_by_peer_.clear();
  program_of_[block.rank] = ShareProgram(ProgramOf(block, order));
  peers_[block.rank] = roles_;
}

bool GoalBuilder::CheckPlace(const GoalBlock& block) {
  if (block.rank >= reader_.ranks()) {
    problems_.Add("TL1722", block.begin,
                  fmt::format("rank {} of {} ranks", block.rank, reader_.ranks()),
                  fmt::format("use ranks 0 to {}, or a larger num_ranks", reader_.ranks() - 1));
    return false;
  }
  if (place_of_[block.rank] == kNoPlace) return true;
  problems_.Add("TL1722", block.begin,
                fmt::format("rank {} has a second block; the first is on {}", block.rank,
                            problems_.Name(place_of_[block.rank])),
                "join the two blocks");
  return false;
}

bool GoalBuilder::CheckOperations(const GoalBlock& block) {
  const auto error = [&](const char* code, std::size_t i, std::string message, const char* hint) {
    problems_.Add(code, block.places[i], std::move(message), hint);
    return false;
  };
  bool good = true;
  for (std::size_t i = 0; i < block.operations.size(); ++i) {
    const GoalOperation& operation = block.operations[i];
    highest_cpu_ = std::max(highest_cpu_, operation.cpu);
    if (operation.nic != 0 && !std::exchange(warned_of_nics_, true)) {
      problems_.Add("TL1734", block.places[i], "nic numbers are not followed",
                    "every message of a rank takes the NIC of its endpoint; give each NIC a rank "
                    "of its own where that matters",
                    Severity::kWarning);
    }
    if (operation.kind == TaskKind::kCompute) continue;
    if (operation.peer == GoalOperation::kAny || operation.tag == GoalOperation::kAny) {
      good = error("TL1726", i, "a wildcard: what it matches depends on the order of arrival",
                   "name the rank and the tag of the message that it stands for");
    } else if (operation.peer >= reader_.ranks()) {
      good = error("TL1722", i, fmt::format("rank {} of {} ranks", operation.peer, reader_.ranks()),
                   "ranks are counted from 0");
    } else if (operation.peer == block.rank) {
      good = error("TL1729", i, fmt::format("rank {} exchanges a message with itself", block.rank),
                   "leave both ends out: what requires the receive requires what the send did");
    } else if (operation.kind == TaskKind::kSend) {
      // Each is at most 2^50, so that the sum is refused before it could overflow.
      total_bytes_ += operation.amount;
      if (total_bytes_ > kGoalMostTotalBytes) {
        total_bytes_ = 0;
        good = error("TL1721", i, "all messages together are larger than 2^60 bytes",
                     "look for a size that is off by orders of magnitude");
      }
    }
    if (problems_.full()) return false;
  }
  return good;
}

// Names the operations of one cycle.
void GoalBuilder::ReportCycle(const GoalBlock& block, const std::vector<std::uint32_t>& order) {
  std::vector<char> done(block.operations.size(), 0);
  for (const std::uint32_t operation : order) done[operation] = 1;
  // Every operation left needs another one that is left.
  std::vector<std::uint32_t> needs(block.operations.size(), kNone);
  for (const GoalDependency& dependency : block.dependencies) {
    if (done[dependency.needed] == 0) needs[dependency.task] = dependency.needed;
  }
  auto at = static_cast<std::uint32_t>(std::ranges::find(done, 0) - done.begin());
  for (; done[at] == 0; at = needs[at]) done[at] = 1;
  constexpr std::size_t kNamed = 6;
  std::string names;
  std::size_t length = 0;
  std::uint32_t next = at;
  do {
    if (length < kNamed) names += (length == 0 ? "" : ", ") + problems_.Name(block.places[next]);
    ++length;
    next = needs[next];
  } while (next != at);
  if (length > kNamed) names += ", …";
  problems_.Add("TL1725", block.places[at],
                fmt::format("{} operation{} of rank {} that wait{} for {}: {}", length,
                            length == 1 ? "" : "s", block.rank, length == 1 ? "s" : "",
                            length == 1 ? "itself" : "each other", names),
                "take one of their dependencies out");
}

std::uint32_t GoalBuilder::RoleOf(const GoalOperation& operation) {
  const std::uint64_t key = (std::uint64_t{operation.peer} << 32) | operation.tag;
  const auto next = static_cast<std::uint32_t>(roles_.size());
  const auto [role, is_new] = role_by_peer_.try_emplace(key, next);
  if (is_new) roles_.push_back({operation.peer, operation.tag});
  return role->second;
}

Program GoalBuilder::ProgramOf(const GoalBlock& block, const std::vector<std::uint32_t>& order) {
  Program program;
  std::vector<std::uint32_t> index(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const GoalOperation& operation = block.operations[order[i]];
    index[order[i]] = i;
    Task task;
    task.kind = operation.kind;
    task.stream = operation.cpu;
    task.label = GoalGraph::LabelOf(operation.kind);
    task.unordered = true;
    if (operation.kind == TaskKind::kCompute) {
      task.duration = Time::Nanoseconds(operation.amount);
    } else {
      task.role = RoleOf(operation);
      task.bytes = Bytes(operation.amount);
    }
    program.tasks.push_back(task);
  }
  std::vector<std::tuple<std::uint32_t, bool, std::uint32_t>> dependencies;
  dependencies.reserve(block.dependencies.size());
  for (const GoalDependency& dependency : block.dependencies) {
    dependencies.emplace_back(index[dependency.task], dependency.start, index[dependency.needed]);
  }
  std::ranges::sort(dependencies);
  const auto repeats = std::ranges::unique(dependencies);
  dependencies.erase(repeats.begin(), repeats.end());
  for (const auto& [task_index, start, needed] : dependencies) {
    Task& task = program.tasks[task_index];
    if (task.dependency_count + task.start_dependency_count == 0) {
      task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    }
    ++(start ? task.start_dependency_count : task.dependency_count);
    program.dependencies.push_back(needed);
  }
  return program;
}

namespace {

std::uint64_t HashOf(const Program& program) {
  std::uint64_t hash = program.tasks.size();
  for (const Task& task : program.tasks) {
    const auto head = (static_cast<std::uint64_t>(task.kind) << 8) | task.stream;
    hash = HashCombine(hash, (head << 32) | task.role);
    hash = HashCombine(hash, static_cast<std::uint64_t>(task.bytes.count() + task.duration.ps()));
    hash = HashCombine(hash,
                       (std::uint64_t{task.dependency_count} << 32) | task.start_dependency_count);
  }
  for (const std::uint32_t dependency : program.dependencies) hash = HashCombine(hash, dependency);
  return hash;
}

bool Equal(const Program& a, const Program& b) {
  const auto key = [](const Task& task) {
    return std::tuple(task.kind, task.stream, task.role, task.first_dependency,
                      task.dependency_count, task.start_dependency_count, task.duration,
                      task.bytes);
  };
  return std::ranges::equal(a.tasks, b.tasks, {}, key, key) && a.dependencies == b.dependencies;
}

}  // namespace

std::uint32_t GoalBuilder::ShareProgram(Program program) {
  const std::uint64_t hash = HashOf(program);
  const auto [first, last] = program_by_hash_.equal_range(hash);
  const auto same = std::find_if(
      first, last, [&](const auto& entry) { return Equal(programs_[entry.second], program); });
  if (same != last) return same->second;
  const auto index = static_cast<std::uint32_t>(programs_.size());
  programs_.push_back(std::move(program));
  program_by_hash_.emplace(hash, index);
  return index;
}

std::unique_ptr<TaskGraph> GoalBuilder::Finish() {
  if (problems_.any()) return nullptr;
  for (std::uint32_t rank = 0; rank < reader_.ranks(); ++rank) {
    if (!place_of_.empty() && place_of_[rank] != kNoPlace) continue;
    problems_.Add("TL1722", 0, fmt::format("no block of rank {} of {}", rank, reader_.ranks()),
                  fmt::format("add `rank {} {{ }}`, empty if it does nothing", rank));
  }
  if (problems_.any()) return nullptr;
  auto roles = MatchGoalMessages({programs_, program_of_, peers_, place_of_}, reader_, problems_);
  if (problems_.any()) return nullptr;
  return std::make_unique<GoalGraph>(std::move(programs_), std::move(program_of_), std::move(roles),
                                     highest_cpu_ + 1U);
}

}  // namespace trunkline
