#include "engine/packet/triggers.h"

#include <utility>

namespace trunkline {

bool Triggers::AreInAnyOrder(const TrafficWorkload& traffic) {
  std::vector<std::uint64_t> most(traffic.triggers.size(), 0);  // activations that there may be
  const auto activates = [&](std::uint32_t trigger) {
    if (trigger != TrafficFlow::kNoTrigger) ++most[trigger];
  };
  for (const TrafficFlow& flow : traffic.flows) {
    activates(flow.when_sent);
    activates(flow.when_received);
  }
  for (const TrafficTrigger& trigger : traffic.triggers) activates(trigger.then);
  for (std::size_t i = 0; i < most.size(); ++i) {
    const std::uint32_t count = CountOf(traffic.triggers[i]);
    if (count == kEach || most[i] > count) return false;
  }
  return true;
}

Time Triggers::LeastDelay(const TrafficWorkload& traffic) {
  Time least = Time::Max();
  for (const TrafficFlow& flow : traffic.flows) {
    if (flow.trigger != TrafficFlow::kNoTrigger) least = std::min(least, flow.start);
  }
  return least;
}

std::vector<std::uint64_t> Triggers::Reach(const TrafficWorkload& traffic,
                                           std::span<const std::uint16_t> shard_of) {
  const std::size_t count = traffic.triggers.size();
  std::vector<std::uint64_t> reach(count, 0);
  // Lists of the triggers that activate each.
  std::vector<std::uint32_t> first(count, TrafficFlow::kNoTrigger);
  std::vector<std::uint32_t> next(count, TrafficFlow::kNoTrigger);
  std::vector<std::uint32_t> changed;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t flow : traffic.triggers[i].flows) {
      reach[i] |= std::uint64_t{1} << shard_of[flow];
    }
    const std::uint32_t then = traffic.triggers[i].then;
    if (then != TrafficFlow::kNoTrigger) next[i] = std::exchange(first[then], i);
    changed.push_back(i);
  }
  while (!changed.empty()) {
    const std::uint32_t trigger = changed.back();
    changed.pop_back();
    for (std::uint32_t by = first[trigger]; by != TrafficFlow::kNoTrigger; by = next[by]) {
      if ((reach[trigger] & ~reach[by]) == 0) continue;
      reach[by] |= reach[trigger];
      changed.push_back(by);
    }
  }
  return reach;
}

}  // namespace trunkline
