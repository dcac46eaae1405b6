#include "workload/traffic/reachability.h"

#include <algorithm>
#include <vector>

namespace trunkline {
namespace {

constexpr std::uint32_t kNone = TrafficFlow::kNoTrigger;

// The activation, counted from 1, that starts the `position`-th flow of a trigger.
std::uint64_t Needed(const TrafficTrigger& trigger, std::uint64_t position) {
  switch (trigger.kind) {
    case TrafficTrigger::Kind::kOneShot:
      return 1;
    case TrafficTrigger::Kind::kMultiShot:
      return position + 1;
    case TrafficTrigger::Kind::kBarrier:
      return trigger.count;
  }
  return 0;
}

}  // namespace

// Which flows start does not depend on the order of activations, so any order will do.
std::optional<NeverStarted> FindNeverStarted(const TrafficWorkload& traffic) {
  std::vector<std::uint64_t> activations(traffic.triggers.size(), 0);
  std::vector<bool> started(traffic.flows.size(), false);
  std::vector<std::uint32_t> ready;
  const auto start = [&](std::uint32_t flow) {
    started[flow] = true;
    ready.push_back(flow);
  };
  const auto activate = [&](std::uint32_t index) {
    if (index == kNone) return;
    const TrafficTrigger& trigger = traffic.triggers[index];
    const std::uint64_t nth = ++activations[index];
    if (trigger.kind == TrafficTrigger::Kind::kMultiShot) {
      if (nth <= trigger.flows.size()) start(trigger.flows[nth - 1]);
    } else if (nth == Needed(trigger, 0)) {
      std::ranges::for_each(trigger.flows, start);
    }
  };
  for (std::uint32_t i = 0; i < traffic.flows.size(); ++i) {
    if (traffic.flows[i].trigger == kNone) start(i);
  }
  while (!ready.empty()) {
    const TrafficFlow& flow = traffic.flows[ready.back()];
    ready.pop_back();
    activate(flow.when_sent);
    activate(flow.when_received);
  }
  const auto idle = std::ranges::find(started, false);
  if (idle == started.end()) return std::nullopt;
  NeverStarted first;
  first.flow = static_cast<std::uint32_t>(idle - started.begin());
  first.flows = static_cast<std::uint64_t>(std::ranges::count(started, false));
  const std::uint32_t index = traffic.flows[first.flow].trigger;
  const TrafficTrigger& trigger = traffic.triggers[index];
  const auto place = std::ranges::find(trigger.flows, first.flow);
  first.activations = activations[index];
  first.needed = Needed(trigger, static_cast<std::uint64_t>(place - trigger.flows.begin()));
  return first;
}

}  // namespace trunkline
