#pragma once

#include <utility>

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// DCTCP (Alizadeh et al., Data Center TCP, SIGCOMM 2010; RFC 8257): the window shrinks by half the
// smoothed share of marked bytes, once a window of data, and else grows by a packet a round trip.
//
// With `rate_ai` it is a rate that shrinks and grows, as in HPCC's simulator: packets are paced by
// it, and at most what it sends in a base round trip is in flight.
struct Dctcp {
  static constexpr const char* kName = "dctcp";
  static constexpr const char* kSummary = "share of marked packets, window";
  static constexpr const char* kDefaultPreset = "dctcp";

  struct Parameters {
    double g = 0;
    double initial_alpha = 1;
    double initial_window = 0;
    double increase = 0;
    double rate_ai = 0;
    double min_rate = 0;
    double min_window = 0;
    double slow_start = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"g", "1", 1e-6, 1, &Parameters::g, "weight of news in alpha"},
      Spec{"initial_alpha", "1", 0, 1, &Parameters::initial_alpha, "alpha before any news"},
      Spec{"initial_window", "BDP", 0.001, 1e6, &Parameters::initial_window,
           "window of a new flow, in bandwidth-delay products"},
      Spec{"increase", "packets", 0.001, 1e4, &Parameters::increase, "growth in a round trip"},
      Spec{"rate_ai", "Mb/s", 0, 1e6, &Parameters::rate_ai,
           "growth in a round trip as a rate; 0: windows, and `increase`"},
      Spec{"min_rate", "Mb/s", 0, 1e6, &Parameters::min_rate, "floor of the rate, with rate_ai"},
      Spec{"min_window", "packets", 1, 1e6, &Parameters::min_window, "floor of the window"},
      Spec{"slow_start", "1", 0, 1, &Parameters::slow_start,
           "1: the window doubles every round trip until the first mark"}};

  struct State {
    double window;  // bytes
    double alpha;
    std::uint64_t window_end;     // packet number with which the observed window of data ends
    std::uint64_t reduced_until;  // what was sent before this packet has had its reduction
    std::uint32_t acked;          // packets of the window of data
    std::uint32_t marked;
    bool slow_start;
  };

  static void Declare(const Parameters&, CongestionPolicy& policy) {
    policy.needs_marks = true;
    policy.acks_marks = true;
  }

  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    flow.rate = LineRate(path);
    flow.state<State>() = {.window = p.initial_window * BandwidthDelayProduct(path),
                           .alpha = p.initial_alpha,
                           .window_end = 0,
                           .reduced_until = 0,
                           .acked = 0,
                           .marked = 0,
                           .slow_start = p.slow_start != 0};
    SetWindow(p, path, flow);
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    State& state = flow.state<State>();
    state.acked += ack.acked_packets;
    state.marked += ack.marked_packets;
    const bool round = ack.acked_psn >= state.window_end;
    if (round) {
      const double share =
          state.acked > 0 ? static_cast<double>(state.marked) / static_cast<double>(state.acked)
                          : 0;
      state.alpha = (1 - p.g) * state.alpha + p.g * share;
      state.window_end = ack.next_psn;
      state.acked = 0;
      state.marked = 0;
    }
    bool reduced = ack.acked_psn < state.reduced_until;
    if (ack.marked_packets > 0) {
      state.slow_start = false;
      if (!std::exchange(reduced, true)) {
        state.window *= 1 - state.alpha / 2;
        state.reduced_until = ack.next_psn;
      }
    } else if (state.slow_start) {
      state.window += static_cast<double>(ack.acked_bytes);
    } else if (!IsRate(p)) {
      state.window += p.increase * static_cast<double>(path.frame.count()) *
                      static_cast<double>(ack.acked_bytes) / state.window;
    }
    if (IsRate(p) && round && !reduced) state.window += InARoundTrip(p.rate_ai, path);
    SetWindow(p, path, flow);
  }

  static void OnLoss(const Parameters& p, const PathView& path, const LossView& loss,
                     FlowControl& flow) {
    State& state = flow.state<State>();
    state.slow_start = false;
    if (loss.timeout) {
      state.window = 0;  // the floor
    } else if (loss.acked_psn >= state.reduced_until) {
      state.window /= 2;
      state.reduced_until = loss.next_psn;
    }
    SetWindow(p, path, flow);
  }

 private:
  static bool IsRate(const Parameters& p) { return p.rate_ai > 0; }
  static double InARoundTrip(double megabits, const PathView& path) {
    return megabits * kBitsPerMegabit / 8 * path.base_rtt.seconds();
  }

  // The window never holds more than twice the path: acknowledgements pace it, and what it would
  // gain beyond without marks is never used. A rate is at most that of the line.
  static void SetWindow(const Parameters& p, const PathView& path, FlowControl& flow) {
    State& state = flow.state<State>();
    const double product = BandwidthDelayProduct(path);
    const double floor = IsRate(p) ? InARoundTrip(p.min_rate, path)
                                   : p.min_window * static_cast<double>(path.frame.count());
    const double most = IsRate(p) ? 1.0 : std::max(2.0, p.initial_window);
    state.window = std::clamp(state.window, floor, std::max(floor, most * product));
    flow.window = WholeBytes(state.window);
    if (IsRate(p)) flow.rate = std::min(LineRate(path), state.window / product * LineRate(path));
  }
};

}  // namespace trunkline::congestion
