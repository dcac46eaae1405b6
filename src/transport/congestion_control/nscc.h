#pragma once

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// NSCC, the sender's congestion control of Ultra Ethernet (UE Specification 1.0, congestion
// management sublayer; constants as in the consortium's simulator,
// github.com/ultraethernet/uet-htsim, uec.cpp). Marks and delay make four cases: unmarked and
// short, the window grows in proportion to what the delay lacks of its target; unmarked and long,
// it grows a little; marked and long, it shrinks once a round trip; marked and short, another path
// will do. Where delays explode or packets are trimmed, the window falls at once to what a round
// trip delivered (quick adapt).
struct Nscc {
  static constexpr const char* kName = "nscc";
  static constexpr const char* kSummary =
      "Ultra Ethernet: marks, delay and trimmed packets, window";
  static constexpr const char* kDefaultPreset = "nscc";

  struct Parameters {
    double network_rtt = 0;
    double target_delay = 0;
    double target_share = 0;
    double proportional = 0;
    double fair = 0;
    double eta = 0;
    double fast = 0;
    double fast_delay = 0;
    double gamma = 0;
    double max_decrease = 0;
    double delay_weight = 0;
    double adjust_packets = 0;
    double max_window = 0;
    double quick_adapt_share = 0;
    double quick_adapt_delay = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"network_rtt", "us", 0, 1e6, &Parameters::network_rtt,
           "base round trip of the network; 0: of the flow's idle path"},
      Spec{"target_delay", "us", 0, 1e6, &Parameters::target_delay,
           "queueing to aim at; 0: target_share of the base round trip"},
      Spec{"target_share", "1", 0.001, 1000, &Parameters::target_share,
           "queueing to aim at, in base round trips"},
      Spec{"proportional", "packets", 0, 1000, &Parameters::proportional,
           "growth in a round trip without queueing, at the reference path"},
      Spec{"fair", "packets", 0, 1000, &Parameters::fair,
           "growth in a round trip of long delays without marks"},
      Spec{"eta", "packets", 0, 1000, &Parameters::eta, "growth in any round trip"},
      Spec{"fast", "1", 0, 1000, &Parameters::fast, "growth by byte while there is no queueing"},
      Spec{"fast_delay", "us", 0, 1e6, &Parameters::fast_delay, "what counts as no queueing"},
      Spec{"gamma", "1", 0, 1, &Parameters::gamma, "strength of a decrease"},
      Spec{"max_decrease", "1", 0, 1, &Parameters::max_decrease,
           "most of the window that a decrease takes"},
      Spec{"delay_weight", "1", 1e-6, 1, &Parameters::delay_weight, "weight of news in the delay"},
      Spec{"adjust_packets", "packets", 0, 1e6, &Parameters::adjust_packets,
           "acknowledged packets after which growth takes effect"},
      Spec{"max_window", "BDP", 0.01, 1e6, &Parameters::max_window,
           "ceiling and first value of the window, in bandwidth-delay products"},
      Spec{"quick_adapt_share", "1", 0, 1, &Parameters::quick_adapt_share,
           "quick adapt only where less of the ceiling was delivered; 0: never"},
      Spec{"quick_adapt_delay", "1", 0, 1000, &Parameters::quick_adapt_delay,
           "delay that calls for it, in targets"}};

  struct State {
    double window;            // bytes
    double growth;            // bytes squared, not yet in the window
    double delay;             // ps, smoothed
    std::int64_t fast_count;  // bytes acknowledged in a row without queueing
    std::int64_t received;    // since growth took effect last
    std::int64_t achieved;    // since the quick-adapt period began
    std::int64_t to_ignore;   // bytes that were in flight at the last quick adapt…
    std::int64_t ignored;     // …and have been heard of since
    std::int64_t last_decrease;
    std::int64_t last_adjust;
    std::int64_t period_end;  // of quick adapt; 0: none began
    bool growing_fast;
    bool lossy;  // packets were trimmed or lost in this period
  };

  static void Declare(const Parameters&, CongestionPolicy& policy) {
    policy.needs_marks = true;
    policy.acks_marks = true;
  }

  static void Start(const Parameters& p, const PathView& path, Time now, FlowControl& flow) {
    flow.rate = LineRate(path);
    State& state = flow.state<State>();
    state = {};
    state.window = MaxWindow(p, path);
    state.last_adjust = now.ps();
    state.last_decrease = INT64_MIN / 2;
    SetWindow(p, path, flow);
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    State& state = flow.state<State>();
    state.achieved += ack.acked_bytes;
    state.received += ack.acked_bytes;
    state.ignored += ack.acked_bytes;
    const std::int64_t delay = std::max<std::int64_t>(0, (ack.rtt - path.base_rtt).ps());
    const bool marked = ack.marked_packets > 0;
    const double target = Target(p, path);
    Smooth(p, path, delay, marked, state);
    if (QuickAdapt(p, path, ack.now, false, marked, delay, ack.in_flight_bytes, state)) {
      SetWindow(p, path, flow);
      return;
    }
    const auto acked = static_cast<double>(ack.acked_bytes);
    if (!marked && static_cast<double>(delay) >= target) {
      state.growth += p.fair * Step(p, path) * acked;
    } else if (!marked) {
      Grow(p, path, delay, ack.acked_bytes, state);
    } else if (static_cast<double>(delay) >= target) {
      Shrink(p, path, ack.now, state);
    }
    Bound(p, path, state);
    const std::int64_t round_trip = NetworkRtt(p, path);
    if (static_cast<double>(state.received) > p.adjust_packets * Frame(path) ||
        ack.now.ps() - state.last_adjust > round_trip) {
      state.window += state.growth / state.window;
      if (ack.now.ps() - state.last_adjust >= round_trip) {
        state.window += p.eta * Step(p, path);
        state.last_adjust = ack.now.ps();
      }
      state.growth = 0;
      state.received = 0;
    }
    SetWindow(p, path, flow);
  }

  static void OnLoss(const Parameters& p, const PathView& path, const LossView& loss,
                     FlowControl& flow) {
    State& state = flow.state<State>();
    if (loss.trimmed) {
      state.ignored += loss.lost_bytes;
      Smooth(p, path, NetworkRtt(p, path), true, state);
      state.lossy = true;
      if (QuickAdapt(p, path, loss.now, true, true, 0, loss.in_flight_bytes, state)) {
        SetWindow(p, path, flow);
        return;
      }
    }
    state.window -= static_cast<double>(loss.lost_bytes);
    SetWindow(p, path, flow);
  }

 private:
  static double Frame(const PathView& path) { return static_cast<double>(path.frame.count()); }
  // One packet's worth of growth, in bytes.
  static double Step(const Parameters& p, const PathView& path) {
    return static_cast<double>(path.mtu.count()) * Scale(p, path);
  }
  static std::int64_t NetworkRtt(const Parameters& p, const PathView& path) {
    return p.network_rtt > 0 ? Picoseconds(p.network_rtt) : path.base_rtt.ps();
  }
  // Queueing to aim at, ps.
  static double Target(const Parameters& p, const PathView& path) {
    return p.target_delay > 0 ? p.target_delay * kPicosecondsPerMicrosecond
                              : p.target_share * static_cast<double>(NetworkRtt(p, path));
  }
  // Growth is given for 100 Gb/s and 12 us and scales with the bandwidth-delay product.
  static constexpr double kReferenceRtt = 12e6;  // ps
  static double Scale(const Parameters& p, const PathView& path) {
    return LineRate(path) / 100e9 * static_cast<double>(NetworkRtt(p, path)) / kReferenceRtt;
  }
  static double MaxWindow(const Parameters& p, const PathView& path) {
    return p.max_window * BandwidthDelayProduct(path);
  }

  static void Smooth(const Parameters& p, const PathView& path, std::int64_t delay, bool marked,
                     State& state) {
    // A long delay without a mark is that of a queue which has gone since.
    const double news = !marked && static_cast<double>(delay) > Target(p, path)
                            ? static_cast<double>(path.base_rtt.ps()) * 0.25
                            : static_cast<double>(delay);
    state.delay += p.delay_weight * (news - state.delay);
  }

  // Growth while delays are below the target.
  static void Grow(const Parameters& p, const PathView& path, std::int64_t delay,
                   std::int64_t acked, State& state) {
    if (delay < Picoseconds(p.fast_delay)) {
      state.fast_count += acked;
      if (state.growing_fast || static_cast<double>(state.fast_count) > state.window) {
        state.window += static_cast<double>(acked) * p.fast * Scale(p, path);
        state.growing_fast = true;
        return;
      }
    } else {
      state.fast_count = 0;
    }
    state.growing_fast = false;
    const double target = Target(p, path);
    state.growth += p.proportional * Step(p, path) * (target / kReferenceRtt) *
                    static_cast<double>(acked) * (1 - static_cast<double>(delay) / target);
  }

  static void Shrink(const Parameters& p, const PathView& path, Time now, State& state) {
    state.growing_fast = false;
    state.fast_count = 0;
    const double target = Target(p, path);
    if (state.delay <= target || now.ps() - state.last_decrease <= path.base_rtt.ps()) return;
    state.window *=
        std::max(1 - p.gamma * (state.delay - target) / state.delay, 1 - p.max_decrease);
    state.last_decrease = now.ps();
  }

  // Whether the window was set, or what is heard now is still of the time before it was.
  static bool QuickAdapt(const Parameters& p, const PathView& path, Time now, bool loss,
                         bool marked, std::int64_t delay, std::int64_t in_flight, State& state) {
    bool done = false;
    if (state.ignored < state.to_ignore && marked) {
      done = true;
    } else if (now.ps() > state.period_end) {
      const bool wanted =
          loss || state.lossy || static_cast<double>(delay) > p.quick_adapt_delay * Target(p, path);
      const auto achieved = static_cast<double>(state.achieved);
      if (state.period_end != 0 && wanted && achieved < p.quick_adapt_share * MaxWindow(p, path)) {
        state.window = achieved;
        state.to_ignore = in_flight;
        state.ignored = 0;
        state.lossy = false;
        done = true;
      }
      state.achieved = 0;
      state.period_end = now.ps() + path.base_rtt.ps() + static_cast<std::int64_t>(Target(p, path));
    }
    if (done) {
      state.growth = 0;
      state.received = 0;
    }
    return done;
  }

  static void Bound(const Parameters& p, const PathView& path, State& state) {
    const double floor = Frame(path);
    state.window = std::clamp(state.window, floor, std::max(floor, MaxWindow(p, path)));
  }
  static void SetWindow(const Parameters& p, const PathView& path, FlowControl& flow) {
    State& state = flow.state<State>();
    Bound(p, path, state);
    flow.window = WholeBytes(state.window);
  }
};

}  // namespace trunkline::congestion
