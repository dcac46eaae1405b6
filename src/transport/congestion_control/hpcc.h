#pragma once

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// HPCC (Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, algorithm 1): switches
// write queue, bytes sent and time into packets, from which the sender knows how full its busiest
// link is and sets its window to keep it at `eta`.
struct Hpcc {
  static constexpr const char* kName = "hpcc";
  static constexpr const char* kSummary = "queues and rates that switches report, window";
  static constexpr const char* kDefaultPreset = "hpcc";

  struct Parameters {
    double eta = 0;
    double max_stage = 0;
    double rate_ai = 0;
    double base_rtt = 0;
    double min_rate = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"eta", "1", 0.01, 1, &Parameters::eta, "utilisation to keep"},
      Spec{"max_stage", "1", 0, 1000, &Parameters::max_stage,
           "additive increases in a row before a multiplicative one"},
      Spec{"rate_ai", "Mb/s", 0, 1e6, &Parameters::rate_ai,
           "additive step, as a rate: a base round trip of it is added to the window"},
      Spec{"base_rtt", "us", 0, 1e6, &Parameters::base_rtt,
           "base round trip of the network; 0: of the flow's idle path"},
      Spec{"min_rate", "Mb/s", 0.001, 1e6, &Parameters::min_rate, "floor of the rate"}};

  struct State {
    double reference_window;  // W^c, bytes
    double utilisation;       // U, smoothed
    std::uint64_t update_at;
    std::uint32_t stage;
  };

  static void Declare(const Parameters&, CongestionPolicy& policy) {
    policy.needs_telemetry = true;
  }

  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    const double window = path.line_rate.bytes_per_second() * BaseRtt(p, path);
    flow.state<State>() = {
        .reference_window = window, .utilisation = 1, .update_at = 0, .stage = 0};
    Obey(p, path, window, flow);
  }

  static void OnAck(const Parameters& p, const PathView& path, const AckView& ack,
                    FlowControl& flow) {
    State& state = flow.state<State>();
    // Two looks at a link make a rate, and a round trip begins with the first.
    if (ack.hops.empty() || ack.previous_hops.size() != ack.hops.size()) {
      state.update_at = ack.next_psn;
      return;
    }
    MeasureInFlight(p, path, ack, state);
    const bool round = ack.acked_psn > state.update_at;
    const double additive = p.rate_ai * kBitsPerMegabit / 8 * BaseRtt(p, path);
    double window = 0;
    std::uint32_t stage = 0;
    if (state.utilisation >= p.eta || state.stage >= p.max_stage) {
      window = state.reference_window / (state.utilisation / p.eta) + additive;
    } else {
      window = state.reference_window + additive;
      stage = state.stage + 1;
    }
    window = Obey(p, path, window, flow);
    if (!round) return;
    state.reference_window = window;
    state.stage = stage;
    state.update_at = ack.next_psn;
  }

 private:
  static double BaseRtt(const Parameters& p, const PathView& path) {
    return p.base_rtt > 0 ? p.base_rtt * 1e-6 : path.base_rtt.seconds();
  }

  // Lines 1 to 10 of the algorithm.
  static void MeasureInFlight(const Parameters& p, const PathView& path, const AckView& ack,
                              State& state) {
    const double base = BaseRtt(p, path);
    double most = 0;
    double since = 0;
    for (std::size_t i = 0; i < ack.hops.size(); ++i) {
      const TelemetryHop& hop = ack.hops[i];
      const TelemetryHop& before = ack.previous_hops[i];
      const double seconds = (hop.time - before.time).seconds();
      if (seconds <= 0) continue;  // the same packet's, or one that was overtaken
      const double capacity = hop.rate.bytes_per_second();
      const double rate = static_cast<double>(hop.sent_bytes - before.sent_bytes) / seconds;
      const auto queue = static_cast<double>(std::min(hop.queue_bytes, before.queue_bytes));
      const double use = queue / (capacity * base) + rate / capacity;
      if (use <= most) continue;
      most = use;
      since = seconds;
    }
    if (since == 0) return;
    const double weight = std::min(since, base) / base;
    state.utilisation = (1 - weight) * state.utilisation + weight * most;
  }

  // Window and the rate that paces it; the window after bounds.
  static double Obey(const Parameters& p, const PathView& path, double window, FlowControl& flow) {
    const double base = BaseRtt(p, path);
    const double rate = std::clamp(
        window * 8 / base, std::min(p.min_rate * kBitsPerMegabit, LineRate(path)), LineRate(path));
    flow.rate = rate;
    flow.window = WholeBytes(rate / 8 * base);
    return rate / 8 * base;
  }
};

}  // namespace trunkline::congestion
