#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// The triggers of a workload and how often each has been activated, close together: a run with many
// small flows activates them everywhere.
class Triggers {
 public:
  explicit Triggers(std::span<const TrafficTrigger> triggers) {
    triggers_.reserve(triggers.size());
    for (const TrafficTrigger& trigger : triggers) {
      triggers_.push_back({.first = flows_.size(),
                           .flows = static_cast<std::uint32_t>(trigger.flows.size()),
                           .count = CountOf(trigger),
                           .then = trigger.then});
      flows_.insert(flows_.end(), trigger.flows.begin(), trigger.flows.end());
    }
  }

  // Whether activations may become known in any order: no trigger starts another flow at each, and
  // none is activated after it has fired. So what fires is known by the last activation to come,
  // and when by the latest.
  [[nodiscard]] static bool AreInAnyOrder(const TrafficWorkload& traffic);
  // No flow is posted sooner after its trigger fires; Time::Max(): none has a trigger.
  [[nodiscard]] static Time LeastDelay(const TrafficWorkload& traffic);
  // By trigger, a bit for each of `shards` that has one of its flows, or of those of triggers that
  // it activates in turn: all that have to hear of its activations. `shard_of`: by flow. REQUIRES:
  // shards <= 64.
  [[nodiscard]] static std::vector<std::uint64_t> Reach(const TrafficWorkload& traffic,
                                                        std::span<const std::uint16_t> shard_of);

  // Calls start(flow, at) for every flow that this activation, at `now`, starts: its trigger fires
  // `at` the latest of its activations.
  template <typename Start>
  void Activate(std::uint32_t trigger, Time now, Start start) {
    while (trigger != TrafficFlow::kNoTrigger) {
      Trigger& what = triggers_[trigger];
      const std::uint32_t nth = what.activations++;
      what.latest = std::max(what.latest, now);
      const auto flows = std::span(flows_).subspan(what.first, what.flows);
      if (what.count == kEach) {
        if (nth < flows.size()) start(flows[nth], now);
        return;
      }
      if (nth + 1 != what.count) return;
      now = what.latest;
      for (const std::uint32_t flow : flows) start(flow, now);
      trigger = what.then;
    }
  }

 private:
  static constexpr std::uint32_t kEach = std::numeric_limits<std::uint32_t>::max();

  struct Trigger {
    std::size_t first = 0;  // of its flows, in flows_
    std::uint32_t flows = 0;
    std::uint32_t count = 1;  // the activation that starts them; kEach: each starts one
    std::uint32_t then = TrafficFlow::kNoTrigger;
    std::uint32_t activations = 0;  // so far …
    Time latest = {};               // … and the latest of them
  };

  static std::uint32_t CountOf(const TrafficTrigger& trigger) {
    switch (trigger.kind) {
      case TrafficTrigger::Kind::kMultiShot:
        return kEach;
      case TrafficTrigger::Kind::kBarrier:
        return trigger.count;
      case TrafficTrigger::Kind::kOneShot:
        break;
    }
    return 1;
  }

  std::vector<Trigger> triggers_;
  std::vector<std::uint32_t> flows_;
};

}  // namespace trunkline
