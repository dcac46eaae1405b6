// How the interpreter lets time pass.
#include <algorithm>

#include "engine/flow/interpreter.h"
#include "engine/flow/interpreter_inline.h"
#include "trunkline/base/check.h"

namespace trunkline {

Time Interpreter::next_time() {
  if (course_.network.needs_solve() && course_.begins.next_time() != course_.clock) {
    course_.network.Solve(course_.clock);
  }
  return std::min(course_.begins.next_time(), course_.network.next_completion());
}

bool Interpreter::Advance(Time until) {
  const Time now = next_time();
  if (model_.carrier != nullptr && model_.carrier->Run(std::min(now, until))) {
    TakeNews();
    return true;
  }
  if (now > until) return false;
  if (now == Time::Max()) {
    if (!course_.begins.empty() || course_.network.active()) past_horizon_ = true;
    return false;
  }
  course_.clock = now;
  while (course_.begins.next_time() == now && !Held(course_.begins.next_id())) {
    BeginTransfer(course_.begins.Pop());
  }
  if (model_.occupancy && model_.occupancy->disturbed != Occupancy::kNobody) return true;
  while (course_.network.next_completion() == now) {
    const FlowNetwork::Ended ended = course_.network.PopCompleted();
    ++events_;
    states_[ended.owner].surplus = ended.surplus;
    Vacate(ended.owner);
    EndFirst(ended.owner, now);
    Transmit(ended.owner);
  }
  return true;
}

void Interpreter::BeginReplay(Time from, Time until) {
  TL_CHECK(ready_.empty() && finished_.empty(), "a replay while programs can run");
  if (!aside_) aside_ = std::make_unique<Course>(FlowNetwork(model_.capacities));
  std::swap(course_, *aside_);
  course_.clock = from;
  replay_end_ = until;
}

void Interpreter::EndReplay() {
  const Time until = replay_end_;
  for (;;) {
    RunAll();
    if (next_time() >= until && course_.network.next_completion() > until) break;
    Advance();
  }
  replay_end_ = Time::Max();
  std::swap(course_, *aside_);
  TL_CHECK(until == course_.clock || !course_.network.needs_solve(), "time passes unsolved");
  course_.clock = until;
  for (const FlowNetwork::Rest& rest : aside_->network.TakeAll(until)) {
    course_.network.Resume(rest, binding_hops(rest.owner), model_.connections[rest.owner].limit,
                           until);
  }
  while (!aside_->begins.empty()) {
    const Time time = aside_->begins.next_time();
    course_.begins.Add(aside_->begins.Pop(), time);
  }
}

}  // namespace trunkline
