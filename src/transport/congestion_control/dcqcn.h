#pragma once

#include <cmath>

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// DCQCN (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3):
// receivers of marked packets send CNPs, on which a sender cuts its rate by alpha/2 (equations 1
// and 2), and timer and byte counter raise it again in three stages (equations 3 and 4).
//
// Timers that ran out are caught up with when the next packet is sent, when a sender that waits for
// its pace asks (once an interval) or when the next notification comes: nobody else reads the rate.
struct Dcqcn {
  static constexpr const char* kName = "dcqcn";
  static constexpr const char* kSummary = "RoCEv2: marks, notifications (CNP), rate";
  // The one that scales with the rate of the links.
  static constexpr const char* kDefaultPreset = "dcqcn-ns3";

  struct Parameters {
    double g = 0;
    double initial_alpha = 1;
    double alpha_interval = 0;
    double alpha_by_timer = 0;
    double decrease_interval = 0;
    double decrease_by_timer = 0;
    double increase_interval = 0;
    double byte_counter = 0;
    double fast_recovery = 0;
    double rate_ai = 0;
    double rate_hai = 0;
    double min_rate = 0;
    double clamp_target = 0;
    double echo = 0;
    double window = 0;
    double variable_window = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"g", "1", 1e-6, 1, &Parameters::g, "weight of news in alpha"},
      Spec{"initial_alpha", "1", 0, 1, &Parameters::initial_alpha, "alpha at the first cut"},
      Spec{"alpha_interval", "us", 0.1, 1e6, &Parameters::alpha_interval,
           "without a notification for so long, alpha decays"},
      Spec{"alpha_by_timer", "1", 0, 1, &Parameters::alpha_by_timer,
           "1: alpha rises once an interval that had notifications; 0: with each"},
      Spec{"decrease_interval", "us", 0, 1e6, &Parameters::decrease_interval,
           "least time between two cuts; 0: every notification cuts"},
      Spec{"decrease_by_timer", "1", 0, 1, &Parameters::decrease_by_timer,
           "1: cuts come with a timer of that interval, which the first notification starts; 0: "
           "with "
           "notifications"},
      Spec{"increase_interval", "us", 0.1, 1e7, &Parameters::increase_interval,
           "timer of rate increases"},
      Spec{"byte_counter", "MB", 0, 1e6, &Parameters::byte_counter,
           "bytes sent that count as one more increase; 0: the timer alone"},
      Spec{"fast_recovery", "1", 0, 1000, &Parameters::fast_recovery,
           "increases that halve the way to the target before it rises"},
      Spec{"rate_ai", "Mb/s", 0, 1e6, &Parameters::rate_ai, "additive step of the target"},
      Spec{"rate_hai", "Mb/s", 0, 1e6, &Parameters::rate_hai, "hyper step of the target"},
      Spec{"min_rate", "Mb/s", 0.001, 1e6, &Parameters::min_rate, "floor of the rate"},
      Spec{"clamp_target", "1", 0, 1, &Parameters::clamp_target,
           "1: every cut makes the rate before it the target; 0: only one after an increase"},
      Spec{"echo", "1", 0, 1, &Parameters::echo,
           "1: acknowledgements carry the marks, there are no CNPs"},
      Spec{"window", "BDP", 0, 1e6, &Parameters::window,
           "what may be in flight, in bandwidth-delay products; 0: anything"},
      Spec{"variable_window", "1", 0, 1, &Parameters::variable_window,
           "1: the window shrinks with the rate"}};

  struct State {
    double alpha;
    double target;
    std::int64_t alpha_time;     // when the alpha timer was started last
    std::int64_t increase_time;  // as the increase timer
    std::int64_t last_cut;       // or run of the timer; kNotYet: the flow has never been notified
    std::int64_t bytes;          // since the byte counter ran out last
    std::uint32_t timer_stage;
    std::uint32_t byte_stage;
    bool notified;  // in this alpha interval
    bool pending;   // a notification came too early for a cut
  };
  static constexpr std::int64_t kNotYet = -1;

  static std::string Contradiction(const Parameters& p) {
    return p.decrease_by_timer != 0 && p.decrease_interval == 0
               ? "decrease_by_timer without a decrease_interval"
               : "";
  }

  static void Declare(const Parameters& p, CongestionPolicy& policy) {
    policy.needs_marks = true;
    policy.needs_cnp = p.echo == 0;
    policy.acks_marks = p.echo != 0;
    policy.reconsider = Time::Picoseconds(Picoseconds(p.increase_interval));
  }

  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    flow.rate = LineRate(path);
    flow.window = RateWindow(path, flow, p.window, false);
    flow.state<State>() = {.alpha = p.initial_alpha,
                           .target = flow.rate,
                           .alpha_time = 0,
                           .increase_time = 0,
                           .last_cut = kNotYet,
                           .bytes = 0,
                           .timer_stage = 0,
                           .byte_stage = 0,
                           .notified = false,
                           .pending = false};
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    if (p.echo != 0 && ack.marked_packets > 0) OnNotification(p, path, ack.now, flow);
  }

  static void OnNotification(const Parameters& p, const PathView& path, Time now,
                             FlowControl& flow) {
    State& state = flow.state<State>();
    const std::int64_t interval = Picoseconds(p.decrease_interval);
    if (state.last_cut == kNotYet) {
      state.alpha_time = now.ps();
      if (p.decrease_by_timer != 0) {
        state.last_cut = now.ps();
        state.pending = true;
        return;
      }
      Cut(p, path, now.ps(), flow, state);
    } else {
      CatchUp(p, path, now.ps(), flow, state);
      if (p.decrease_by_timer != 0) {
        state.last_cut += (now.ps() - state.last_cut) / interval * interval;
        state.pending = true;
      } else if (now.ps() - state.last_cut >= interval) {
        Cut(p, path, now.ps(), flow, state);
      } else {
        state.pending = true;
      }
    }
    if (p.alpha_by_timer != 0) {
      state.notified = true;
    } else {
      state.alpha = (1 - p.g) * state.alpha + p.g;
      state.alpha_time = now.ps();
    }
  }

  static void BeforeSend(const Parameters& p, const PathView& path, Time now,
                         std::int64_t wire_bytes, FlowControl& flow) {
    State& state = flow.state<State>();
    if (state.last_cut == kNotYet) return;
    CatchUp(p, path, now.ps(), flow, state);
    if (p.byte_counter == 0) return;
    state.bytes += wire_bytes;
    const auto limit = static_cast<std::int64_t>(p.byte_counter * 1e6);
    while (state.bytes >= limit) {
      state.bytes -= limit;
      Increase(p, path, flow, state);
      ++state.byte_stage;
    }
  }

 private:
  // Everything that timers would have done until `now`, in order.
  static void CatchUp(const Parameters& p, const PathView& path, std::int64_t now,
                      FlowControl& flow, State& state) {
    const std::int64_t cut = state.last_cut + Picoseconds(p.decrease_interval);
    if (state.pending && cut <= now) {
      RunTimers(p, path, cut, flow, state);
      Cut(p, path, cut, flow, state);
    }
    RunTimers(p, path, now, flow, state);
  }

  static void RunTimers(const Parameters& p, const PathView& path, std::int64_t now,
                        FlowControl& flow, State& state) {
    const std::int64_t alpha_interval = Picoseconds(p.alpha_interval);
    if (now - state.alpha_time >= alpha_interval) {
      std::int64_t ticks = (now - state.alpha_time) / alpha_interval;
      state.alpha_time += ticks * alpha_interval;
      if (state.notified) {
        state.alpha = (1 - p.g) * state.alpha + p.g;
        state.notified = false;
        --ticks;
      }
      state.alpha *= ticks == 1 ? 1 - p.g : std::pow(1 - p.g, static_cast<double>(ticks));
    }
    const std::int64_t increase_interval = Picoseconds(p.increase_interval);
    while (now - state.increase_time >= increase_interval) {
      if (flow.rate >= LineRate(path)) {  // nothing is left to gain
        const std::int64_t ticks = (now - state.increase_time) / increase_interval;
        state.increase_time += ticks * increase_interval;
        break;
      }
      state.increase_time += increase_interval;
      Increase(p, path, flow, state);
      ++state.timer_stage;
    }
  }

  static void Cut(const Parameters& p, const PathView& path, std::int64_t now, FlowControl& flow,
                  State& state) {
    if (p.clamp_target != 0 || state.timer_stage != 0 || state.byte_stage != 0) {
      state.target = flow.rate;
    }
    flow.rate = std::max(flow.rate * (1 - state.alpha / 2), p.min_rate * kBitsPerMegabit);
    flow.window = RateWindow(path, flow, p.window, p.variable_window != 0);
    state.last_cut = now;
    state.pending = false;
    state.increase_time = now;
    state.bytes = 0;
    state.timer_stage = 0;
    state.byte_stage = 0;
  }

  // One increase by the timer or the byte counter, whose stages are those before it. Without a byte
  // counter the timer's stage counts for both.
  static void Increase(const Parameters& p, const PathView& path, FlowControl& flow, State& state) {
    const std::uint32_t byte_stage = p.byte_counter != 0 ? state.byte_stage : state.timer_stage;
    const auto recovery = static_cast<std::uint32_t>(p.fast_recovery);
    if (std::min(state.timer_stage, byte_stage) > recovery) {
      state.target += p.rate_hai * kBitsPerMegabit;
    } else if (std::max(state.timer_stage, byte_stage) >= recovery) {
      state.target += p.rate_ai * kBitsPerMegabit;
    }
    state.target = std::min(state.target, LineRate(path));
    flow.rate = (flow.rate + state.target) / 2;
    // Halving the way never ends; a part in a million is as good as there.
    if (flow.rate > LineRate(path) * (1 - 1e-6)) flow.rate = LineRate(path);
    flow.window = RateWindow(path, flow, p.window, p.variable_window != 0);
  }
};

}  // namespace trunkline::congestion
