#pragma once

#include <algorithm>

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// InfiniBand's congestion control (Architecture Specification, volume 1, annex A10). Switches mark
// packets that leave a congested port (FECN), receivers tell the sender (BECN), and each BECN moves
// its flow CCTI_Increase on in the congestion control table, whose entries are the delays between
// its packets. Every CCTI_Timer, which runs freely, all flows move back by one.
//
// The table is linear, as Intel's fabric manager fills it.
struct IbCc {
  static constexpr const char* kName = "ib-cc";
  static constexpr const char* kSummary = "FECN and BECN of InfiniBand, delay between packets";
  static constexpr const char* kDefaultPreset = "ib-cc-intel";

  struct Parameters {
    double ccti_increase = 0;
    double ccti_limit = 0;
    double ccti_min = 0;
    double ccti_timer = 0;
    double max_delay = 0;
  };
  using Spec = ParameterSpec<Parameters>;
  static constexpr std::array kParameters = {
      Spec{"ccti_increase", "entries", 0, 255, &Parameters::ccti_increase,
           "steps that a BECN moves a flow on in the table"},
      Spec{"ccti_limit", "entries", 1, 16'383, &Parameters::ccti_limit, "last entry of the table"},
      Spec{"ccti_min", "entries", 0, 16'383, &Parameters::ccti_min,
           "entry that a flow does not come back beyond"},
      Spec{"ccti_timer", "us", 0.001, 1e6, &Parameters::ccti_timer,
           "after which flows move a step back"},
      Spec{"max_delay", "us", 0, 1e6, &Parameters::max_delay,
           "between packets at the last entry; in proportion before"}};

  struct State {
    double index;             // CCTI
    std::int64_t last_timer;  // runs of the timer so far
  };

  static std::string Contradiction(const Parameters& p) {
    return p.ccti_min > p.ccti_limit ? "ccti_min is above ccti_limit" : "";
  }
  static void Declare(const Parameters& p, CongestionPolicy& policy) {
    policy.needs_marks = true;
    policy.needs_cnp = true;
    policy.reconsider = Time::Picoseconds(Picoseconds(p.ccti_timer));
  }

  static void Start(const Parameters& p, const PathView& path, Time now, FlowControl& flow) {
    flow.window = INT64_MAX;
    flow.state<State>() = {.index = p.ccti_min, .last_timer = RunsOfTimer(p, now)};
    SetRate(p, path, flow);
  }
  static void OnNotification(const Parameters& p, const PathView& path, Time now,
                             FlowControl& flow) {
    CatchUp(p, now, flow);
    State& state = flow.state<State>();
    state.index = std::min(state.index + p.ccti_increase, p.ccti_limit);
    SetRate(p, path, flow);
  }
  static void BeforeSend(const Parameters& p, const PathView& path, Time now, std::int64_t,
                         FlowControl& flow) {
    CatchUp(p, now, flow);
    SetRate(p, path, flow);
  }

 private:
  static std::int64_t RunsOfTimer(const Parameters& p, Time now) {
    return now.ps() / Picoseconds(p.ccti_timer);
  }
  static void CatchUp(const Parameters& p, Time now, FlowControl& flow) {
    State& state = flow.state<State>();
    const std::int64_t runs = RunsOfTimer(p, now);
    const auto since = static_cast<double>(runs - state.last_timer);
    state.index = std::max(state.index - since, p.ccti_min);
    state.last_timer = runs;
  }
  // The delay comes after a packet's own time: a full packet every (its time + delay).
  static void SetRate(const Parameters& p, const PathView& path, FlowControl& flow) {
    const double packet =
        static_cast<double>(path.frame.count()) / path.line_rate.bytes_per_second() * 1e6;
    const double delay = p.max_delay * flow.state<State>().index / p.ccti_limit;
    flow.rate = LineRate(path) * packet / (packet + delay);
  }
};

}  // namespace trunkline::congestion
