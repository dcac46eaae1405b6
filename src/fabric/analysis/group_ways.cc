#include "fabric/analysis/group_ways.h"

#include <algorithm>

#include "trunkline/base/check.h"

namespace trunkline {

GroupWays::GroupWays(const Fabric& fabric, const GroupRoutes& groups, const RouterOptions& options,
                     std::uint32_t lanes, DependencyGraph& graph)
    : fabric_(fabric),
      groups_(groups),
      policy_(TraitsOf(options.policy)),
      via_router_(options.parameters.via_router),
      lanes_(lanes),
      goals_(via_router_ ? groups.switch_count() : groups.group_count()),
      graph_(graph),
      has_ends_(groups.switch_count(), false),
      seen_(fabric.link_count() * lanes * (goals_ + std::size_t{2}), false) {
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork || fabric.device(link.to).kind != DeviceKind::kSwitch) {
      continue;
    }
    if (fabric.device(link.from).kind != DeviceKind::kSwitch) {
      has_ends_[groups.switch_of(link.to)] = true;
    }
  }
}

GroupRoutes::Goal GroupWays::GoalOf(std::uint32_t via) const {
  return via_router_ ? groups_.ToSwitch(via) : GroupRoutes::Goal{.group = via};
}

void GroupWays::Add(std::uint32_t home) {
  seen_.assign(seen_.size(), false);
  for (std::uint32_t at = 0; at < groups_.switch_count(); ++at) {
    if (has_ends_[at] && at != home) Enter(at, home);
  }
  while (!open_.empty()) {
    const State state = open_.back();
    open_.pop_back();
    Follow(state, home);
  }
}

// A packet comes from an end.
void GroupWays::Enter(std::uint32_t at, std::uint32_t home) {
  if (policy_.detours != DetourRule::kNever) TurnOff(nullptr, at, home, 0);
  const bool open = policy_.detours == DetourRule::kInSourceGroup;
  GoOn(nullptr, at, groups_.ToSwitch(home),
       {.lane = 0, .phase = open ? Phase::kOpen : Phase::kClosed});
}

// A packet has come by the link of its state.
void GroupWays::Follow(const State& state, std::uint32_t home) {
  const Link& link = fabric_.link(state.link);
  const std::uint32_t at = groups_.switch_of(link.to);
  const bool crossed = groups_.group(groups_.switch_of(link.from)) != groups_.group(at);
  State next = state;
  if (crossed) ++next.lane;
  if (crossed && next.phase == Phase::kOpen) next.phase = Phase::kClosed;
  if (next.phase == Phase::kDetour && groups_.Reached(at, GoalOf(state.via))) {
    next.phase = Phase::kClosed;
    if (!crossed) ++next.lane;
  }
  if (at == home) return;
  if (next.phase == Phase::kOpen) TurnOff(&state, at, home, next.lane + 1U);
  GoOn(&state, at, next.phase == Phase::kDetour ? GoalOf(state.via) : groups_.ToSwitch(home), next);
}

void GroupWays::TurnOff(const State* before, std::uint32_t at, std::uint32_t home,
                        std::uint32_t lane) {
  for (std::uint32_t via = 0; via < goals_; ++via) {
    const GroupRoutes::Goal goal = GoalOf(via);
    if (!groups_.IsDetour(at, goal, groups_.ToSwitch(home))) continue;
    GoOn(before, at, goal,
         {.via = via, .lane = static_cast<std::uint8_t>(lane), .phase = Phase::kDetour});
  }
}

void GroupWays::GoOn(const State* before, std::uint32_t at, const GroupRoutes::Goal& goal,
                     State next) {
  if (groups_.Hops(at, goal) >= GroupRoutes::kUnreachable) return;
  if (lanes_ == 1) next.lane = 0;
  TL_CHECK(next.lane < lanes_, "a policy runs out of virtual channels", policy_.name);
  if (next.phase != Phase::kDetour) next.via = 0;
  groups_.ForEachNext(at, goal, [&](LinkId link) {
    next.link = link;
    if (before != nullptr) graph_.Add({before->link, before->lane}, {link, next.lane});
    const std::size_t phase = next.phase == Phase::kDetour ? 2 + std::size_t{next.via}
                                                           : static_cast<std::size_t>(next.phase);
    const std::size_t place =
        (Index(link) * lanes_ + next.lane) * (goals_ + std::size_t{2}) + phase;
    if (seen_[place]) return;
    seen_[place] = true;
    open_.push_back(next);
  });
}

}  // namespace trunkline
