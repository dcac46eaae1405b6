#pragma once

#include <algorithm>
#include <cmath>

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// TCP's slow start and congestion avoidance: CUBIC (RFC 9438), and with c = 0 and beta = 1/2 the
// standard control of RFC 5681, whose growth CUBIC never falls behind. Windows are in packets. A
// window that is not filled does not grow (RFC 9438, section 5.8).
struct Cubic {
  static constexpr const char* kName = "cubic";
  static constexpr const char* kSummary = "losses, window: slow start and a cubic function of time";
  static constexpr const char* kDefaultPreset = "cubic";

  struct Parameters {
    double c = 0;
    double beta = 0;
    double fast_convergence = 0;
    double initial_window = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"c", "1", 0, 1e3, &Parameters::c,
           "packets by which the window grows in the first second beyond the last maximum; 0: "
           "growth of the standard control only"},
      Spec{"beta", "1", 0.1, 0.99, &Parameters::beta, "of the window that a loss leaves"},
      Spec{"fast_convergence", "1", 0, 1, &Parameters::fast_convergence,
           "1: two losses at falling maxima make the flow give way further"},
      Spec{"initial_window", "packets", 1, 1e6, &Parameters::initial_window,
           "window of a new flow"}};

  struct State {
    double window;
    double threshold;       // slow start ends here
    double maximum;         // W_max: the window before the last loss
    double before;          // cwnd_prior
    double standard;        // W_est: what the standard control would have since the loss
    double origin;          // K: seconds from the loss to `maximum`
    std::int64_t epoch;     // when congestion avoidance began; -1: it has not
    std::uint64_t recover;  // losses of packets before are old
  };

  static void Declare(const Parameters&, CongestionPolicy&) {}

  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    flow.rate = LineRate(path);
    flow.state<State>() = {.window = p.initial_window,
                           .threshold = kNoThreshold,
                           .maximum = 0,
                           .before = 0,
                           .standard = 0,
                           .origin = 0,
                           .epoch = -1,
                           .recover = 0};
    SetWindow(path, flow);
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    State& state = flow.state<State>();
    if (ack.acked_psn < state.recover) return;
    if (ack.marked_packets > 0) {  // RFC 3168: as a loss
      Reduce(p, ack.next_psn, state);
    } else if (IsFilled(path, ack, state)) {
      Grow(p, path, ack, state);
    }
    SetWindow(path, flow);
  }

  static void OnLoss(const Parameters& p, const PathView& path, const LossView& loss,
                     FlowControl& flow) {
    State& state = flow.state<State>();
    // One reduction a window of data: what is lost until all that was under way at the last has
    // arrived belongs to the same congestion.
    if (!loss.timeout && loss.acked_psn < state.recover) return;
    Reduce(p, loss.next_psn, state);
    if (loss.timeout) {  // RFC 9438, section 4.8: the cubic starts afresh where slow start ends
      state.window = 1;
      state.maximum = 0;
    }
    SetWindow(path, flow);
  }

 private:
  static constexpr double kNoThreshold = 1e18;
  static constexpr double kLeastThreshold = 2;  // RFC 5681, equation 4

  static void Reduce(const Parameters& p, std::uint64_t next_psn, State& state) {
    const bool gives_way = p.fast_convergence != 0 && state.window < state.maximum;
    state.before = state.window;
    state.maximum = gives_way ? state.window * (1 + p.beta) / 2 : state.window;
    state.window = state.threshold = std::max(state.window * p.beta, kLeastThreshold);
    state.epoch = -1;
    state.recover = next_psn;
  }

  // Linux asks for half in slow start, whose acknowledgements let go twice what they report.
  static bool IsFilled(const PathView& path, const AckView& ack, const State& state) {
    const double flight = Packets(path, ack.in_flight_bytes + ack.acked_bytes);
    return state.window < state.threshold ? state.window < 2 * flight : state.window <= flight + 1;
  }

  static void Grow(const Parameters& p, const PathView& path, const AckView& ack, State& state) {
    const double acked = Packets(path, ack.acked_bytes);
    if (state.window < state.threshold) {
      state.window = std::min(state.window + acked, state.threshold);
      return;
    }
    if (state.epoch < 0) {
      state.epoch = ack.now.ps();
      state.standard = state.window;
      state.maximum = std::max(state.maximum, state.window);
      state.origin = p.c > 0 ? std::cbrt((state.maximum - state.window) / p.c) : 0;
    }
    const double alpha = state.standard >= state.before ? 1 : 3 * (1 - p.beta) / (1 + p.beta);
    state.standard += alpha * acked / state.window;
    const double now = static_cast<double>(ack.now.ps() - state.epoch) * 1e-12;
    if (p.c == 0 || CubicAt(p, state, now) < state.standard) {
      state.window = std::max(state.window, state.standard);
      return;
    }
    const double target =
        std::clamp(CubicAt(p, state, now + ack.rtt.seconds()), state.window, 1.5 * state.window);
    state.window += (target - state.window) / state.window * acked;
  }

  static double CubicAt(const Parameters& p, const State& state, double seconds) {
    return p.c * std::pow(seconds - state.origin, 3) + state.maximum;
  }
  static double Packets(const PathView& path, std::int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(path.frame.count());
  }
  static void SetWindow(const PathView& path, FlowControl& flow) {
    const auto frame = static_cast<double>(path.frame.count());
    flow.window = WholeBytes(std::min(std::floor(flow.state<State>().window), 1e9) * frame);
  }
};

}  // namespace trunkline::congestion
