#pragma once

#include <cmath>

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// Swift (Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the
// Datacenter, SIGCOMM 2020, algorithms 1 and 2): a window in packets that keeps the delay at a
// target, which grows with the path's hops and shrinks with the window. Below one packet the window
// becomes a pace.
struct Swift {
  static constexpr const char* kName = "swift";
  static constexpr const char* kSummary = "delay against a target, window";
  static constexpr const char* kDefaultPreset = "swift";

  struct Parameters {
    double base_target = 0;
    double hop_target = 0;
    double ai = 0;
    double beta = 0;
    double max_mdf = 0;
    double fs_range = 0;
    double fs_min = 0;
    double fs_max = 0;
    double min_window = 0;
    double max_window = 0;
    double initial_window = 0;
    double retransmit_reset = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"base_target", "us", 0.001, 1e6, &Parameters::base_target, "target delay without hops"},
      Spec{"hop_target", "us", 0, 1e6, &Parameters::hop_target, "added for each link of the path"},
      Spec{"ai", "packets", 0.0001, 1e4, &Parameters::ai, "growth of the window in a round trip"},
      Spec{"beta", "1", 0, 1, &Parameters::beta, "strength of a decrease"},
      Spec{"max_mdf", "1", 0, 1, &Parameters::max_mdf, "most of the window that a decrease takes"},
      Spec{"fs_range", "us", 0, 1e6, &Parameters::fs_range,
           "most that a small window adds to the target"},
      Spec{"fs_min", "packets", 0.0001, 1e6, &Parameters::fs_min, "window that adds it all"},
      Spec{"fs_max", "packets", 0.0001, 1e6, &Parameters::fs_max, "window that adds nothing"},
      Spec{"min_window", "packets", 0.0001, 1e6, &Parameters::min_window, "floor of the window"},
      Spec{"max_window", "packets", 1, 1e9, &Parameters::max_window, "ceiling of the window"},
      Spec{"initial_window", "BDP", 0.001, 1e6, &Parameters::initial_window,
           "window of a new flow, in bandwidth-delay products"},
      Spec{"retransmit_reset", "1", 1, 1000, &Parameters::retransmit_reset,
           "timeouts in a row after which the window starts from its floor"}};

  struct State {
    double window;  // packets
    std::int64_t last_decrease;
    std::int64_t rtt;  // the newest
    std::uint32_t timeouts;
  };

  static std::string Contradiction(const Parameters& p) {
    if (p.fs_min >= p.fs_max) return "fs_min is not below fs_max";
    return p.min_window > p.max_window ? "min_window is above max_window" : "";
  }
  static void Declare(const Parameters&, CongestionPolicy&) {}

  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    State& state = flow.state<State>();
    state = {.window = p.initial_window * BandwidthDelayProduct(path) /
                       static_cast<double>(path.frame.count()),
             .last_decrease = INT64_MIN / 2,
             .rtt = path.base_rtt.ps(),
             .timeouts = 0};
    SetWindow(p, path, flow);
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    State& state = flow.state<State>();
    state.timeouts = 0;
    state.rtt = ack.rtt.ps();
    const double target = TargetDelay(p, path, state.window);
    const double delay = Microseconds(ack.rtt);
    const double acked =
        static_cast<double>(ack.acked_bytes) / static_cast<double>(path.frame.count());
    if (delay < target) {
      state.window += p.ai * acked / std::max(state.window, 1.0);
    } else if (MayDecrease(state, ack.now)) {
      state.window *= std::max(1 - p.beta * (delay - target) / delay, 1 - p.max_mdf);
      state.last_decrease = ack.now.ps();
    }
    SetWindow(p, path, flow);
  }

  static void OnLoss(const Parameters& p, const PathView& path, const LossView& loss,
                     FlowControl& flow) {
    State& state = flow.state<State>();
    if (loss.timeout && ++state.timeouts >= static_cast<std::uint32_t>(p.retransmit_reset)) {
      state.window = p.min_window;
      state.last_decrease = loss.now.ps();
    } else if (MayDecrease(state, loss.now)) {
      state.window *= 1 - p.max_mdf;
      state.last_decrease = loss.now.ps();
    }
    SetWindow(p, path, flow);
  }

 private:
  static double TargetDelay(const Parameters& p, const PathView& path, double window) {
    const double at_max = 1 / std::sqrt(p.fs_max);
    const double scale = p.fs_range / (1 / std::sqrt(p.fs_min) - at_max);
    return p.base_target + p.hop_target * path.hops +
           std::clamp(scale * (1 / std::sqrt(window) - at_max), 0.0, p.fs_range);
  }
  static bool MayDecrease(const State& state, Time now) {
    return now.ps() - state.last_decrease >= state.rtt;
  }
  static void SetWindow(const Parameters& p, const PathView& path, FlowControl& flow) {
    State& state = flow.state<State>();
    state.window = std::clamp(state.window, p.min_window, p.max_window);
    const auto frame = static_cast<double>(path.frame.count());
    flow.window = WholeBytes(std::max(state.window, 1.0) * frame);
    flow.rate = LineRate(path);
    if (state.window < 1) {
      flow.rate = std::min(flow.rate, state.window * frame * 8e12 / static_cast<double>(state.rtt));
    }
  }
};

}  // namespace trunkline::congestion
