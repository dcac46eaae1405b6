#include "engine/packet/deadlock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "engine/packet/plant.h"

namespace trunkline {

bool IsBlocked(const Plant& plant, std::size_t queue) {
  const std::size_t classes = plant.switches_model.classes;
  if (!plant.ingress.empty()) {
    const Port& port = plant.ports[queue / classes];
    return (port.paused >> (queue % classes) & 1) != 0 && plant.ingress[queue].paused;
  }
  if (plant.lanes.empty()) return false;
  const Lane& lane = plant.lanes[queue];
  return lane.starved && lane.first == lane.returns.size();
}

std::vector<std::size_t> FindDeadlock(const Plant& plant, std::vector<QueueWait> waits) {
  std::ranges::sort(waits);
  waits.erase(std::ranges::unique(waits).begin(), waits.end());
  // The largest set of blocked queues whose receivers' packets all queue in the set: whatever is
  // blocked now and may yet move on falls out of it.
  std::vector<std::uint8_t> stuck(plant.queues.size(), 0);
  const auto outputs = [&](std::size_t input) {
    return std::ranges::equal_range(waits, input, {}, &QueueWait::input);
  };
  const auto is_stuck = [&](const QueueWait& wait) {
    return wait.output != QueueWait::kNothing && stuck[wait.output] != 0;
  };
  std::vector<std::size_t> open;
  for (const QueueWait& wait : waits) {
    if (!IsBlocked(plant, wait.input) || stuck[wait.input] != 0) continue;
    stuck[wait.input] = 1;
    open.push_back(wait.input);
  }
  for (std::size_t before = 0; before != open.size();) {
    before = open.size();
    std::erase_if(open, [&](std::size_t input) {
      stuck[input] = std::ranges::all_of(outputs(input), is_stuck) ? 1 : 0;
      return stuck[input] == 0;
    });
  }
  if (open.empty()) return {};
  // From any of them the first successors lead into a cycle.
  std::vector<std::size_t> path = {open.front()};
  while (true) {
    const std::size_t next = outputs(path.back()).begin()->output;
    const auto seen = std::ranges::find(path, next);
    if (seen == path.end()) {
      path.push_back(next);
      continue;
    }
    path.erase(path.begin(), seen);
    std::ranges::rotate(path, std::ranges::min_element(path));
    return path;
  }
}

std::string NameOfQueue(const Fabric& fabric, const Plant& plant, std::size_t queue) {
  const std::size_t classes = plant.switches_model.classes;
  const Link& link = fabric.link(LinkId(queue / classes));
  return fmt::format("{}/{} class {}", fabric.name(link.from), fabric.name(link.to),
                     queue % classes);
}

std::string DescribeDeadlock(const Fabric& fabric, const Plant& plant,
                             std::span<const std::size_t> cycle) {
  std::vector<std::string> names;
  for (const std::size_t queue : cycle) names.push_back(NameOfQueue(fabric, plant, queue));
  names.push_back(names.front());
  return fmt::format("deadlock: {}: each waits for room that packets before the next hold",
                     fmt::join(names, " -> "));
}

}  // namespace trunkline
