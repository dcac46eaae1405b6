#include "engine/task_order.h"

#include <array>
#include <utility>

namespace trunkline {

TaskOrder::TaskOrder(const Program& program)
    : stream_predecessor(program.tasks.size(), kNone),
      role_predecessor(program.tasks.size(), kNone) {
  std::vector<std::uint32_t> last_of_stream(UINT8_MAX + 1, kNone);
  std::array<std::vector<std::uint32_t>, 4> last_of_role;  // by TaskKind
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    if (!task.unordered) {
      stream_predecessor[i] = std::exchange(last_of_stream[task.stream], i);
    }
    if (task.kind == TaskKind::kCompute) continue;
    std::vector<std::uint32_t>& last = last_of_role[static_cast<std::size_t>(task.kind)];
    if (task.role >= last.size()) last.resize(task.role + 1, kNone);
    role_predecessor[i] = std::exchange(last[task.role], i);
  }
}

}  // namespace trunkline
