#pragma once

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// TIMELY (Mittal et al., RTT-based Congestion Control for the Datacenter, SIGCOMM 2015,
// algorithm 1): the rate follows the gradient of the round-trip time, once a round trip.
struct Timely {
  static constexpr const char* kName = "timely";
  static constexpr const char* kSummary = "round-trip times and their gradient, rate";
  static constexpr const char* kDefaultPreset = "timely";

  struct Parameters {
    double alpha = 0;
    double beta = 0;
    double t_low = 0;
    double t_high = 0;
    double min_rtt = 0;
    double rate_ai = 0;
    double hai_factor = 0;
    double hai_after = 0;
    double hai_always = 0;
    double min_rate = 0;
    double window = 0;
    double variable_window = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"alpha", "1", 1e-6, 1, &Parameters::alpha, "weight of news in the gradient"},
      Spec{"beta", "1", 0, 1, &Parameters::beta, "strength of a decrease"},
      Spec{"t_low", "us", 0, 1e6, &Parameters::t_low, "a shorter round trip always increases"},
      Spec{"t_high", "us", 0, 1e6, &Parameters::t_high, "a longer one always decreases"},
      Spec{"min_rtt", "us", 0, 1e6, &Parameters::min_rtt,
           "what gradients are measured in; 0: the idle path's round trip"},
      Spec{"rate_ai", "Mb/s", 0, 1e6, &Parameters::rate_ai, "additive step"},
      Spec{"hai_factor", "1", 1, 1000, &Parameters::hai_factor,
           "steps at once in hyperactive increase"},
      Spec{"hai_after", "1", 1, 1000, &Parameters::hai_after,
           "falling round trips in a row that begin it"},
      Spec{"hai_always", "1", 0, 1, &Parameters::hai_always,
           "1: any increases in a row count for it, those below t_low too, which it may take as "
           "well"},
      Spec{"min_rate", "Mb/s", 0.001, 1e6, &Parameters::min_rate, "floor of the rate"},
      Spec{"window", "BDP", 0, 1e6, &Parameters::window,
           "what may be in flight, in bandwidth-delay products; 0: anything"},
      Spec{"variable_window", "1", 0, 1, &Parameters::variable_window,
           "1: the window shrinks with the rate"}};

  struct State {
    double previous_rtt;  // us; 0: none yet
    double difference;    // us, smoothed
    std::uint64_t update_at;
    std::uint32_t rises;  // in a row that count for hyperactive increase
  };

  static std::string Contradiction(const Parameters& p) {
    return p.t_low > p.t_high ? "t_low is above t_high" : "";
  }
  static void Declare(const Parameters&, CongestionPolicy&) {}

  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    flow.rate = LineRate(path);
    flow.window = RateWindow(path, flow, p.window, false);
    flow.state<State>() = {};
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    State& state = flow.state<State>();
    if (ack.acked_psn < state.update_at || ack.acked_packets == 0) return;
    state.update_at = ack.next_psn;
    const double rtt = Microseconds(ack.rtt);
    if (state.previous_rtt == 0) {
      state.previous_rtt = rtt;
      return;
    }
    const double news = rtt - state.previous_rtt;
    state.previous_rtt = rtt;
    state.difference = (1 - p.alpha) * state.difference + p.alpha * news;
    const double gradient =
        state.difference / (p.min_rtt > 0 ? p.min_rtt : Microseconds(path.base_rtt));
    const bool low = rtt < p.t_low;
    const bool rise = low || (rtt <= p.t_high && gradient <= 0);
    // The paper counts falling round trips, HPCC's simulator increases before this one.
    const bool always = p.hai_always != 0;
    const bool hyper = (always || !low) && state.rises + (always ? 0 : 1) >= p.hai_after;
    state.rises = (always ? rise : gradient <= 0) ? state.rises + 1 : 0;
    if (rise) {
      flow.rate += (hyper ? p.hai_factor : 1) * p.rate_ai * kBitsPerMegabit;
    } else if (rtt > p.t_high) {
      flow.rate *= 1 - p.beta * (1 - p.t_high / rtt);
    } else {
      flow.rate *= std::max(0.0, 1 - p.beta * gradient);
    }
    flow.rate = std::clamp(flow.rate, std::min(p.min_rate * kBitsPerMegabit, LineRate(path)),
                           LineRate(path));
    flow.window = RateWindow(path, flow, p.window, p.variable_window != 0);
  }
};

}  // namespace trunkline::congestion
