// What a program asks of every rank that runs it: see ProgramShape.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/flow/problem.h"

namespace trunkline {
namespace {

template <typename T>
std::uint32_t SlotOf(std::vector<T>& slots, const T& value) {
  const auto found = std::ranges::find(slots, value);
  const auto slot = static_cast<std::uint32_t>(found - slots.begin());
  if (found == slots.end()) slots.push_back(value);
  return slot;
}

Manner MannerOf(const CollectiveChoice& choice) {
  const Algorithm* algorithm = FindAlgorithm(choice.algorithm);
  // An unknown name is left for MakeSchedule to refuse.
  return {.protocol = choice.protocol, .tree = algorithm != nullptr && algorithm->is_tree};
}

// The slot of a peer role that is used for the first time.
std::uint32_t AddSlot(ProgramShape& shape, const Task& task) {
  std::vector<std::uint32_t>& roles = task.kind == TaskKind::kSend ? shape.sends : shape.receives;
  roles.push_back(task.role);
  return static_cast<std::uint32_t>(roles.size() - 1);
}

}  // namespace

ProgramShape ShapeOf(const Program& program, const TaskGraph& graph) {
  ProgramShape shape;
  const auto count = static_cast<std::uint32_t>(program.tasks.size());
  std::map<std::pair<TaskKind, std::uint32_t>, std::uint32_t> last_with_role;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Task& task = program.tasks[i];
    std::uint32_t slot = ProgramShape::kNoSlot;
    switch (task.kind) {
      case TaskKind::kCompute:
        break;
      case TaskKind::kCollective:
        slot = SlotOf(shape.ports, {task.role, MannerOf(graph.collectives()[task.collective])});
        shape.collectives.resize(shape.ports.size(), 0);
        ++shape.collectives[slot];
        break;
      case TaskKind::kSend:
      case TaskKind::kReceive:
        break;
    }
    shape.slot.push_back(slot);
    if (task.stream >= shape.streams.size()) shape.streams.resize(task.stream + 1U);
    if (!task.unordered) shape.streams[task.stream].push_back(i);
    shape.role_predecessor.push_back(ProgramShape::kNoSlot);
    if (task.kind == TaskKind::kCompute) continue;
    const auto [role, new_role] =
        last_with_role.try_emplace({task.kind, task.role}, ProgramShape::kNoSlot);
    if (!new_role) shape.role_predecessor.back() = role->second;
    if (task.kind != TaskKind::kCollective) {
      shape.slot.back() = new_role ? AddSlot(shape, task) : shape.slot[role->second];
    }
    role->second = i;
  }
  shape.waiters = Waiters(program, shape.role_predecessor);
  return shape;
}

}  // namespace trunkline
